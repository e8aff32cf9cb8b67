#pragma once

#include <utility>

#include "scan/python/ast.h"

namespace fathom::python {

// How tightly operators bind, up from `or`; those of arithmetic follow kBitOrLevel.
enum Level : int { kOrLevel = 1, kAndLevel, kNotLevel, kCompareLevel, kBitOrLevel };

struct DepthGuard {
  explicit DepthGuard(int& depth) : depth_(depth) { ++depth_; }
  ~DepthGuard() { --depth_; }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;
  int& depth_;
};

// Recursive descent. Where the tokens do not fit, fail() moves to the last token, at which every
// loop ends of itself; whoever can go on after it clears the failure. Only the header of a compound
// statement is ever parsed again, never its body, so time stays linear.
class Parser {
 public:
  explicit Parser(std::string_view text) { tree_.tokens = lex(text); }
  Tree run();

 private:
  // The children of a node while it is parsed.
  struct List {
    NodeId first = 0, last = 0;
    uint32_t count = 0;
  };

  // Deeper nesting than any code has, and shallow enough for a thread's stack.
  static constexpr int kDeepest = 200;

  const Token& token(uint32_t ahead = 0) const {
    const size_t i = at_ + ahead;
    return i < tree_.tokens.tokens.size() ? tree_.tokens.tokens[i] : tree_.tokens.tokens.back();
  }
  TokenKind kind(uint32_t ahead = 0) const { return token(ahead).kind; }
  bool is(TokenKind wanted) const { return kind() == wanted; }
  bool is_word(std::string_view word) const {
    return is(TokenKind::kName) && tree_.tokens.at(at_) == word;
  }
  bool accept(TokenKind wanted) {
    if (!is(wanted)) return false;
    ++at_;
    return true;
  }
  void expect(TokenKind wanted) {
    if (!accept(wanted)) fail();
  }
  void fail() {
    failed_ = true;
    at_ = static_cast<uint32_t>(tree_.tokens.tokens.size() - 1);
  }

  void append(List& list, NodeId node) {
    if (node == 0) return;
    (list.last == 0 ? list.first : tree_.nodes[list.last].next) = node;
    list.last = node;
    ++list.count;
  }
  // A node from the token `first` to the one before the current token.
  NodeId make(NodeKind kind, uint32_t first, const List& children, uint32_t extra = 0);
  NodeId make(NodeKind kind, uint32_t first) { return make(kind, first, List()); }
  NodeId make(NodeKind kind, uint32_t first, NodeId child, uint32_t extra = 0) {
    List list;
    append(list, child);
    return make(kind, first, list, extra);
  }

  // Statements.
  NodeId module();
  void statements(List& into);
  NodeId statement();
  NodeId compound_statement();
  void simple_statements(List& into);
  NodeId simple_statement();
  NodeId expression_statement();
  NodeId import_statement();
  NodeId import_from();
  void imported_names(List& into);
  NodeId raise_or_assert();
  NodeId decorated();
  NodeId function(uint32_t first, NodeId decorators);
  NodeId class_definition(uint32_t first, NodeId decorators);
  NodeId if_statement();
  NodeId loop(uint32_t first);
  NodeId try_statement();
  NodeId handler();
  NodeId with_statement(uint32_t first);
  void with_items(List& into);
  NodeId match_statement();
  NodeId match_case();
  NodeId type_alias();
  bool at_match() const;
  bool at_bracketed_with() const;
  NodeId block();
  NodeId damaged(uint32_t first);
  void skip_line();
  void skip_block();
  void skip_brackets();
  template <class Parse>
  void header(Parse&& parse) {
    const uint32_t first = at_;
    parse();
    if (!failed_ && is(TokenKind::kColon)) return;
    at_ = first;
    skip_line();
  }

  // Expressions.
  NodeId expression();          // with the walrus and lambda
  NodeId starred_expression();  // *x too
  NodeId expression_list();     // a, b: a tuple without brackets
  NodeId value();               // the right side of an assignment: yield too
  NodeId targets();             // of for and del
  NodeId binary(int level);
  NodeId operand();
  NodeId power();
  NodeId primary();
  NodeId atom();
  NodeId strings();
  NodeId field();
  NodeId group();
  NodeId list_display();
  NodeId brace_display();
  NodeId brace_item();
  void display_rest(List& items, TokenKind closing);
  NodeId subscript_index();
  NodeId slice();
  void arguments(List& into);
  NodeId argument();
  NodeId comprehension(uint32_t first, NodeId element);
  NodeId lambda();
  NodeId parameters(TokenKind closing);
  NodeId parameter(bool annotated);
  NodeId yield();
  NodeId pattern();
  bool starts_expression() const;
  bool at_comprehension() const {
    return is(TokenKind::kFor) || (is(TokenKind::kAsync) && kind(1) == TokenKind::kFor);
  }

  Tree tree_;
  uint32_t at_ = 0;
  int depth_ = 0;
  bool failed_ = false;
  bool in_pattern_ = false;
};

}  // namespace fathom::python
