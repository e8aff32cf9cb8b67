#pragma once

#include <initializer_list>
#include <string_view>

#include "scan/cpp/expressions.h"

namespace fathom::cpp {

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> list);

// The tokens of a body up to `last`, and where statements that have no header end.
class StatementTokens {
 protected:
  static constexpr size_t kNone = SIZE_MAX;

  StatementTokens(const Code& code, size_t close);

  uint32_t line_of(size_t token) const { return source_.tokens[token].line; }
  std::string_view word(size_t i) const { return i < last_ ? source_.at(i) : std::string_view(); }
  bool is(size_t i, std::string_view wanted) const { return i < last_ && source_.is(i, wanted); }
  size_t past(size_t i) const { return std::min(code_.past(i), last_); }

  bool is_unroll_macro(size_t first, size_t end) const;
  bool holds_brace(size_t first, size_t end) const;
  bool is_called_at_once(size_t body) const;
  // `auto f = [&](int n) {`, `owner = {pointer, [](int* p) {`: the code is run later.
  bool is_named_lambda(size_t first, size_t body) const;
  // At its ; or behind its last token. A macro's use needs none: it ends where a new line begins
  // with a name, or behind its block.
  size_t statement_end(size_t first) const;
  bool starts_statement(size_t i) const;
  bool ends_behind_block(size_t next) const;
  // The next { in the statement that holds statements of its own.
  size_t next_code(size_t first, size_t end) const;
  bool holds_statements(size_t open) const;

  const Code code_;
  const TokenList& source_;
  const size_t last_;
};

}  // namespace fathom::cpp
