#pragma once

#include <string>

#include "doctor/machine.h"
#include "test_files.h"

namespace fathom::test {

// A file system of its own with what a test puts into it.
class FakeMachine {
 public:
  FakeMachine();

  FakeMachine& put(const std::string& path, std::string_view text);
  // The library that stands for NVML, CUDA and CUPTI.
  FakeMachine& library(const std::string& path);
  // A shell script.
  FakeMachine& program(const std::string& path, std::string_view script);
  FakeMachine& set(const std::string& variable, const std::string& value);
  // A machine with two H200, driver, libraries, CUPTI and ncu, whose counters are open.
  FakeMachine& with_h200();

  const Machine& machine() const { return machine_; }
  Machine& machine() { return machine_; }

 private:
  TemporaryDirectory directory_;
  Machine machine_;
};

}  // namespace fathom::test
