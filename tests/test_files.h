#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::test {

std::filesystem::path source_dir();
// The program under test, and the same counting what it does (linear/about.md).
std::string fathom_binary();
std::string counted_binary();
// A library with a few functions of NVML, CUDA and CUPTI (doctor/fake_driver.cc).
std::string fake_driver();
// The project's own example traces, sorted by name.
std::vector<std::filesystem::path> example_traces();
// Larger real traces beside the checkout; empty where they are absent.
std::vector<std::filesystem::path> shared_traces();

std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, std::string_view content);

// The rows of a table of data/ (its header too), cut at tabs; without comments and empty lines.
struct DataRow {
  int line = 0;
  std::vector<std::string> cells;
};
std::vector<DataRow> read_data_rows(const std::filesystem::path& table);

// A directory that is gone when the object is.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int owner_ = 0;  // process
};

// Set by --accept: golden files are rewritten instead of compared.
extern bool accept_goldens;
// Empty when `actual` is what the golden file holds, else what differs first.
std::string compare_golden(const std::filesystem::path& golden, const std::string& actual);

// Runs a shell command with an empty standard input.
struct CommandResult {
  int exit_code = 0;
  std::string output, errors;
};
CommandResult run_command(const std::string& command, const std::filesystem::path& directory);

}  // namespace fathom::test
