#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scan/cpp/tokens.h"

namespace fathom::cpp {

// An option or environment variable that C or C++ code reads: gflags, absl flags, CLI11, getenv and
// wrappers named after it, and programs that compare argv themselves.
struct Option {
  enum class Source : uint8_t { kFlags, kCli11, kEnvironment, kEnvironmentWrapper, kArgv };
  Source source;
  std::vector<std::string> names;  // "--batch", "-b"; of the environment the variable
  std::string type, help;
  std::optional<std::string> default_value;
  uint32_t line = 0;
};

std::vector<Option> find_options(const TokenList& source);

}  // namespace fathom::cpp
