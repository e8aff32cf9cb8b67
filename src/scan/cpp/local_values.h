#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scan/cpp/tree/code_tree.h"

namespace fathom::cpp {

// `name = text` somewhere in code: what a launch's grid and block are made of.
struct LocalValue {
  std::string name;
  std::string text;  // the expression as written, on one line
  uint32_t line = 0;
};

// The values that a function's body gives to names, in order: initialisers in all spellings and
// assignments, members ("config.gridDim") with their whole name.
std::vector<LocalValue> local_values(const CodeTree& body);

// constexpr, const and #define values outside functions, and in classes.
std::vector<LocalValue> file_constants(const TokenList& source);

// "int kThreads = 128, bool kPdl = false" → the parameters that have defaults.
std::vector<LocalValue> template_defaults(std::string_view template_parameters, uint32_t line);

}  // namespace fathom::cpp
