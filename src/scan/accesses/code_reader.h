#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "scan/accesses/code_tree.h"

namespace fathom {

// Reads the statements of a function body into a CodeTree. Statements stand in code_tree.cc,
// expressions in code_expressions.cc.
class CodeReader {
 public:
  explicit CodeReader(CodeTree& tree) : tree_(tree), source_(tree.tokens), brackets_(source_) {}

  void run();

 private:
  uint32_t block();
  void skip_statement();
  uint32_t statement();
  uint32_t other();
  void end_statement();
  uint32_t expression_statement();
  uint32_t if_statement();
  uint32_t for_statement();
  uint32_t while_statement();
  uint32_t do_statement();
  uint32_t switch_statement();
  // Past a type's name with its template arguments; none: there is no such name.
  size_t past_type(size_t i) const;
  size_t past_stars(size_t i) const;
  bool declares() const;
  uint32_t declaration();
  uint32_t list();
  uint32_t comma_expression();
  // The lexer leaves most operators of two characters in two tokens, for the sake of templates.
  std::string operator_here(size_t& tokens) const;
  uint32_t expression();
  void skip_to_end_of_expression();
  uint32_t binary(int lowest);
  bool is_cast() const;
  uint32_t unary();
  uint32_t postfix();
  uint32_t call(uint32_t callee);
  uint32_t primary();
  uint32_t name();
  // a < b … > c, which no template arguments are: what follows is no call and no ::.
  bool ends_comparison(size_t open) const;
  uint32_t lambda();

  uint32_t make(CodeKind kind, size_t first) {
    CodeNode node;
    node.kind = kind;
    node.first = static_cast<uint32_t>(first);
    node.last = static_cast<uint32_t>(first);
    node.line = first < source_.size() ? source_.tokens[first].line : 0;
    tree_.nodes.push_back(std::move(node));
    return static_cast<uint32_t>(tree_.nodes.size() - 1);
  }
  uint32_t finish(uint32_t id) {
    tree_.nodes[id].last = static_cast<uint32_t>(at_);
    return id;
  }
  void adopt(uint32_t parent, uint32_t child) {
    CodeNode& below = tree_.nodes[child];
    if (below.height >= kMaxTreeHeight) {
      below.kind = below.kind < CodeKind::kBlock ? CodeKind::kUnknown : CodeKind::kOther;
      below.children.clear();
      below.height = 0;
    }
    CodeNode& above = tree_.nodes[parent];
    above.children.push_back(child);
    above.height = std::max(above.height, below.height + 1);
  }
  bool is(std::string_view wanted) const { return source_.is(at_, wanted); }
  bool take(std::string_view wanted) {
    if (!is(wanted)) return false;
    ++at_;
    return true;
  }
  bool at_end() const { return at_ >= source_.size(); }
  size_t closing(size_t open) const {
    return brackets_.closed(open) && brackets_.partner(open) > open ? brackets_.partner(open)
                                                                    : source_.size();
  }
  bool is_directive() const {
    return !at_end() && source_.tokens[at_].kind == cpp::TokenKind::kDirective;
  }

  static constexpr int kMaxDepth = 120;
  CodeTree& tree_;
  const cpp::TokenList& source_;
  const cpp::Brackets brackets_;
  size_t at_ = 0;
  int depth_ = 0;
};

// Whether a word is one of a list.
template <size_t N>
bool among(std::string_view word, const std::array<std::string_view, N>& list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}
bool is_qualifier(std::string_view word);     // const, static, __shared__ …
bool is_builtin_type(std::string_view word);  // int, float4 …

}  // namespace fathom
