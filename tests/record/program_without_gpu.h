#pragma once

#include <filesystem>
#include <string>

#include "checks.h"
#include "test_files.h"

namespace fathom {

// Runs commands where CUPTI is one that has no GPU (fake_cupti.cc). $P holds the programs in
// probed/.
class ProgramWithoutGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(test::fathom_binary()).parent_path();
    std::filesystem::create_directories(directory_.path() / "cuda/lib64");
    std::filesystem::create_symlink(folder_ / "probed/libfathom_fake_cupti.so",
                                    directory_.path() / "cuda/lib64/libcupti.so.13");
  }
  test::CommandResult run(const std::string& command) {
    return test::run_command("PATH=" + folder_.string() + ":$PATH; P=" + folder_.string() +
                                 "/probed; export CUDA_HOME=$PWD/cuda; " + command,
                             directory_.path());
  }
  std::filesystem::path folder_;
  test::TemporaryDirectory directory_;
};

}  // namespace fathom
