#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

struct CMakeWord {
  std::string text;
  uint32_t line = 0;
};
struct CMakeCommand {
  std::string name;  // lower case
  std::vector<CMakeWord> words;
  uint32_t line = 0;
};

// name(word "quoted word" [[bracketed]] …), comments left out. Variables are not expanded.
std::vector<CMakeCommand> cmake_commands(std::string_view text);

}  // namespace fathom
