#include "scan/cpp/statement_tokens.h"

#include <algorithm>

namespace fathom::cpp {
namespace {

bool is_macro_name(std::string_view name) {
  const auto small = [](char c) { return c >= 'a' && c <= 'z'; };
  return name.size() > 2 && std::none_of(name.begin(), name.end(), small);
}

}  // namespace

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

StatementTokens::StatementTokens(const Code& code, size_t close)
    : code_(code), source_(code.source), last_(std::min(close, source_.size())) {}

bool StatementTokens::is_unroll_macro(size_t first, size_t end) const {
  return end == first + 1 && is_macro_name(word(first)) &&
         word(first).find("UNROLL") != std::string_view::npos;
}

bool StatementTokens::holds_brace(size_t first, size_t end) const {
  for (size_t i = first; i < end; i = past(i)) {
    if (is(i, "{")) return true;
  }
  return false;
}

bool StatementTokens::is_called_at_once(size_t body) const { return is(past(body), "("); }

bool StatementTokens::is_named_lambda(size_t first, size_t body) const {
  for (size_t i = first; i + 1 < body; i = past(i)) {
    if (is(i, "=")) return (is(i + 1, "[") || is(i + 1, "{")) && !is_called_at_once(body);
    if (is(i, "(")) return false;
  }
  return false;
}

size_t StatementTokens::statement_end(size_t first) const {
  for (size_t i = first; i < last_;) {
    if (is(i, ";") || is(i, "}")) return i;
    const size_t next = past(i);
    const bool macro = source_.is_name(first) && is_macro_name(word(first));
    if (macro && i == first && starts_statement(next)) return next;
    const bool call = i == first + 1 && is(i, "(") && source_.is_name(first);
    if (call && starts_statement(next)) return next;
    if (is(i, "{") && i > first && is(i - 1, ")") && ends_behind_block(next)) return next;
    i = next;
  }
  return last_;
}

bool StatementTokens::starts_statement(size_t i) const {
  if (i >= last_ || line_of(i) == line_of(i - 1)) return false;
  return source_.is_name(i) || is(i, "{") || source_.tokens[i].kind == TokenKind::kDirective;
}

bool StatementTokens::ends_behind_block(size_t next) const {
  return next >= last_ || source_.is_name(next) || is(next, "}") ||
         source_.tokens[next].kind == TokenKind::kDirective;
}

size_t StatementTokens::next_code(size_t first, size_t end) const {
  for (size_t i = first; i < end; ++i) {
    if (!is(i, "{") || !code_.brackets.closed(i)) continue;
    if (holds_statements(i)) return i;
  }
  return kNone;
}

bool StatementTokens::holds_statements(size_t open) const {
  const size_t close = code_.brackets.partner(open);
  for (size_t i = open + 1; i < close; i = std::max(code_.past(i), i + 1)) {
    if (is(i, ";")) return true;
    if (source_.is_name(i) && is_one_of(word(i), {"if", "for", "while", "switch"})) return true;
  }
  return false;
}

}  // namespace fathom::cpp
