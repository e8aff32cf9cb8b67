#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scan/cpp/tokens.h"

namespace fathom::cpp {

// An option or environment variable that C or C++ code reads: of the libraries in
// data/features/option_calls.tsv and option_tables.tsv, lists of names handed to an option's type,
// getenv and wrappers named after it, and programs that compare argv themselves.
struct Option {
  enum class Source : uint8_t {
    kFlags,
    kList,
    kTable,
    kEnvironment,
    kEnvironmentWrapper,
    kArgv,
    kField  // a key of a configuration
  };
  Source source = Source::kFlags;
  std::vector<std::string> names;  // "--batch", "-b"; of the environment the variable
  std::string type, help;
  std::optional<std::string> default_value;
  uint32_t line = 0;
  bool certain = true;  // kList: false where few lists are handed to the same function; kField: by
                        // a name alone
  // kArgv: only the first letter is compared, so that -b is taken for -bs too.
  bool more_may_follow = false;
};

std::vector<Option> find_options(const TokenList& source);

// Those that a program compares argv with itself: what the branch does gives the type, what the
// variable that it sets begins with the default.
std::vector<Option> find_argv_options(const TokenList& source);

// A line of the text that a program prints to say how it is used: "-b <int>  rows (default = 4)".
struct UsageLine {
  std::vector<std::string> names;
  std::string placeholder;                   // "int"; empty: none
  std::string help;                          // what follows, its default too
  std::optional<std::string> default_value;  // as the help says it
  uint32_t line = 0;
};
std::vector<UsageLine> find_usage_lines(const TokenList& source);

}  // namespace fathom::cpp
