#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

// A program that a build file makes. Paths are as seen from the build file's folder.
struct BuildTarget {
  std::string name;                  // what the build tool calls it; empty: it has no name there
  std::string output;                // "train_gpt2cu"; of CMake below the build folder
  std::vector<std::string> sources;  // files that it is made of, as far as they are written down
  uint32_t line = 0;
};

// add_executable and its relatives, and custom commands that link a program with -o. Variables that
// the same file sets to words are expanded; a function of the project's own sets its first argument
// to what its others name.
std::vector<BuildTarget> cmake_targets(std::string_view text);

// Rules whose prerequisites are source files. `files`: those of the Makefile's folder, which
// pattern rules apply to.
std::vector<BuildTarget> make_targets(std::string_view text, const std::vector<std::string>& files);

}  // namespace fathom
