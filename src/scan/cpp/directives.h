#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scan/cpp/cpp_file.h"
#include "scan/cpp/tokens.h"

namespace fathom::cpp {

enum class DirectiveKind : uint8_t { kIf, kElse, kEndif, kDefine, kUndefine, kInclude, kOther };

// A preprocessor line. #ifdef and #ifndef are kIf, #elif and #else are kElse.
struct Directive {
  DirectiveKind kind = DirectiveKind::kOther;
  std::string_view word;  // "ifdef"
  std::string_view rest;  // what follows the word, as written
};

Directive read_directive(std::string_view text);

// #if 0: how people comment code out.
bool is_never(const Directive& directive);

// The macro of a #define: continued lines are joined, comments left out.
Macro read_macro(const Directive& define, uint32_t line);

// Where a branch of an #if begins and ends, and what chose it.
struct Branch {
  uint32_t first, last;  // tokens of its directive and of the next one: #else, #elif or #endif
  uint32_t parent;       // the branch around it, in the same list; kNoBranch: none
  std::string condition;
  bool has_alternative = false;  // the #if has another branch
  bool ended_by_else = false;
};
inline constexpr uint32_t kNoBranch = UINT32_MAX;

// In order of their first token.
std::vector<Branch> find_branches(const TokenList& source);

// The innermost branch around a token.
uint32_t branch_around(const std::vector<Branch>& branches, size_t token);

}  // namespace fathom::cpp
