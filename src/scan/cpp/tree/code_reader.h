#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "scan/cpp/tree/code_tree.h"

namespace fathom {

// Reads statements into a CodeTree. Statements stand in code_statements.cc, declarations in
// code_declarations.cc, expressions in code_expressions.cc, how nodes are made in code_tree.cc.
class CodeTreeReader {
 public:
  // The tokens from `first` to before `last`; the first line of the source is `line`.
  CodeTreeReader(CodeTree& tree, size_t first, size_t last, uint32_t line);

  void run();

 private:
  // The innermost #if that is being read, and the list of statements that it stands in.
  struct Branch {
    uint32_t list;
    bool ended = false;  // its #endif came inside a statement
  };
  // How the children of a node hang together until the tree is done.
  struct Links {
    uint32_t first = 0, last = 0, next = 0;  // 0: none; the first node is nobody's child
  };

  // Statements.
  void statements(uint32_t parent, size_t end, bool of_case);
  uint32_t block();
  uint32_t body();  // of an if or a loop
  uint32_t statement();
  uint32_t keyword_statement(std::string_view word);  // none: 0
  uint32_t plain_statement();
  uint32_t branches();
  void stray_directive();
  void skip_to_endif();
  void skip_statement();
  uint32_t other();
  void end_statement();
  bool starts_statement() const;
  uint32_t expression_statement();
  uint32_t if_statement();
  uint32_t else_in_branch(uint32_t branch);
  uint32_t for_statement();
  uint32_t while_statement();
  uint32_t do_statement();
  uint32_t switch_statement();
  uint32_t case_statement();
  uint32_t with_body(CodeKind kind);
  uint32_t local_class();
  uint32_t condition(size_t end);
  // Past a type's name with its template arguments; 0: there is no such name.
  size_t past_type(size_t i) const;
  size_t past_stars(size_t i) const;
  bool declares() const;
  bool names_function_pointer(size_t i) const;
  uint32_t declaration();
  uint32_t declarator();

  // Expressions.
  uint32_t list();
  bool holds_statements(size_t open) const;
  uint32_t comma_expression();
  // The lexer leaves most operators of two characters in two tokens, for the sake of templates.
  std::string_view operator_here(size_t& tokens) const;
  uint32_t expression();
  void skip_to_end_of_expression();
  uint32_t too_deep();
  uint32_t binary(int lowest);
  bool is_cast() const;
  uint32_t unary();
  uint32_t keyword_operand();
  uint32_t postfix();
  uint32_t call(uint32_t callee);
  uint32_t launch(uint32_t kernel);
  uint32_t primary();
  uint32_t literal();
  uint32_t name();
  // a < b … > c, which no template arguments are: what follows is no call and no ::.
  bool ends_comparison(size_t open) const;
  uint32_t lambda();

  // Nodes.
  uint32_t make(CodeKind kind, size_t first);
  uint32_t finish(uint32_t id) {
    node(id).last = static_cast<uint32_t>(at_);
    return id;
  }
  CodeNode& node(uint32_t id) { return tree_.nodes[id]; }
  void adopt(uint32_t parent, uint32_t child);
  void take_children(uint32_t parent, uint32_t from);
  void link_children();
  CodeText kept(size_t first, size_t last);  // the source of some tokens

  bool is(std::string_view wanted) const { return source_.is(at_, wanted) && at_ < last_; }
  bool take(std::string_view wanted) {
    if (!is(wanted)) return false;
    ++at_;
    return true;
  }
  bool at_end() const { return at_ >= last_; }
  size_t closing(size_t open) const {
    if (!brackets_.closed(open)) return last_;
    const size_t partner = brackets_.partner(open);
    return partner > open && partner < last_ ? partner : last_;
  }
  // The token after what begins at `i`: past a bracket's partner, or one on.
  size_t past(size_t i) const {
    const bool opens = brackets_.closed(i) && brackets_.partner(i) > i;
    return std::min<size_t>(opens ? brackets_.partner(i) + 1 : i + 1, last_);
  }
  bool is_directive() const {
    return at_ < last_ && source_.tokens[at_].kind == cpp::TokenKind::kDirective;
  }

  static constexpr int kMaxDepth = 120;
  CodeTree& tree_;
  const cpp::TokenList& source_;
  const cpp::Brackets& brackets_;
  size_t last_;
  const uint32_t line_;  // of the source's first line, less one
  size_t at_;
  int depth_ = 0;
  bool unroll_ = false;  // asked for by the line before
  uint32_t list_ = 0, lists_ = 0;
  std::vector<Branch> branches_;
  std::vector<Links> links_;
};

bool is_qualifier(std::string_view word);     // const, static, __shared__ …
bool is_builtin_type(std::string_view word);  // int, float4 …
bool is_macro_name(std::string_view word);    // as macros are written, and not template parameters

}  // namespace fathom
