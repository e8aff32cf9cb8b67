#include "scan/python/parser.h"

namespace fathom::python {

Tree parse(std::string_view text) { return Parser(text).run(); }

NodeId Tree::child(NodeId id, uint32_t index) const {
  NodeId at = nodes[id].child;
  while (at != 0 && index-- > 0) at = nodes[at].next;
  return at;
}

NodeId Tree::child_of_kind(NodeId id, NodeKind wanted) const {
  NodeId at = nodes[id].child;
  while (at != 0 && nodes[at].kind != wanted) at = nodes[at].next;
  return at;
}

uint32_t Tree::child_count(NodeId id) const {
  uint32_t count = 0;
  for (NodeId at = nodes[id].child; at != 0; at = nodes[at].next) ++count;
  return count;
}

Tree Parser::run() {
  tree_.nodes.reserve(tree_.tokens.tokens.size() / 2 + 8);
  tree_.nodes.emplace_back();
  tree_.root = module();
  tree_.damaged |= tree_.tokens.damaged;
  return std::move(tree_);
}

NodeId Parser::module() {
  List list;
  while (!is(TokenKind::kEnd)) {
    statements(list);
    if (is(TokenKind::kDedent)) ++at_;  // one that no block is waiting for
  }
  return make(NodeKind::kModule, 0, list);
}

void Parser::statements(List& into) {
  while (!is(TokenKind::kDedent) && !is(TokenKind::kEnd)) {
    const uint32_t before = at_;
    if (is(TokenKind::kNewline)) {
      ++at_;
    } else if (is(TokenKind::kIndent)) {  // lines that nothing above them indents
      tree_.damaged = true;
      append(into, block());
    } else if (const NodeId compound = compound_statement(); compound != 0) {
      append(into, compound);
    } else {
      simple_statements(into);
    }
    if (at_ == before) ++at_;
  }
}

// 0: none begins here.
NodeId Parser::compound_statement() {
  const uint32_t first = at_;
  switch (kind()) {
    case TokenKind::kAt:
      return decorated();
    case TokenKind::kDef:
      return function(first, make(NodeKind::kDecorators, first));
    case TokenKind::kClass:
      return class_definition(first, make(NodeKind::kDecorators, first));
    case TokenKind::kIf:
      return if_statement();
    case TokenKind::kWhile:
    case TokenKind::kFor:
      return loop(first);
    case TokenKind::kTry:
      return try_statement();
    case TokenKind::kWith:
      return with_statement(first);
    case TokenKind::kAsync:
      if (kind(1) == TokenKind::kDef) return function(first, make(NodeKind::kDecorators, first));
      ++at_;
      if (is(TokenKind::kFor)) return loop(first);
      if (is(TokenKind::kWith)) return with_statement(first);
      at_ = first;
      return 0;
    case TokenKind::kName:
      return at_match() ? match_statement() : 0;
    default:
      return 0;
  }
}

void Parser::simple_statements(List& into) {
  const uint32_t first = at_;
  while (true) {
    const uint32_t begin = at_;
    const NodeId node = simple_statement();
    if (!failed_) append(into, node);
    if (failed_ || (!is(TokenKind::kSemicolon) && !is(TokenKind::kNewline) &&
                    !is(TokenKind::kEnd) && !is(TokenKind::kDedent))) {
      at_ = begin;
      append(into, damaged(begin));
      return;
    }
    if (!accept(TokenKind::kSemicolon)) break;
    if (is(TokenKind::kNewline) || is(TokenKind::kEnd)) break;
  }
  if (at_ > first) accept(TokenKind::kNewline);
}

// Passes over a statement that makes no sense, but not over what is indented below it.
NodeId Parser::damaged(uint32_t first) {
  skip_line();
  const uint32_t end = at_;
  List parts;
  accept(TokenKind::kNewline);
  if (is(TokenKind::kIndent)) {
    append(parts, block());
  } else {
    at_ = end > first ? end : end + 1;
  }
  const NodeId node = make(NodeKind::kDamaged, first, parts);
  accept(TokenKind::kNewline);
  return node;
}

// To the line break that ends the logical line, and on from any failure.
void Parser::skip_line() {
  tree_.damaged = true;
  failed_ = false;
  while (!is(TokenKind::kNewline) && !is(TokenKind::kEnd)) ++at_;
}

NodeId Parser::simple_statement() {
  const uint32_t first = at_;
  switch (kind()) {
    case TokenKind::kImport:
      return import_statement();
    case TokenKind::kFrom:
      return import_from();
    case TokenKind::kReturn:
      ++at_;
      return make(NodeKind::kReturn, first, starts_expression() ? expression_list() : 0);
    case TokenKind::kRaise:
    case TokenKind::kAssert:
      return raise_or_assert();
    case TokenKind::kDel:
      ++at_;
      return make(NodeKind::kDelete, first, targets());
    case TokenKind::kPass:
    case TokenKind::kBreak:
    case TokenKind::kContinue:
      ++at_;
      return make(NodeKind::kOther, first);
    case TokenKind::kGlobal:
    case TokenKind::kNonlocal:
      ++at_;
      while (is(TokenKind::kName) || is(TokenKind::kComma)) ++at_;
      return make(NodeKind::kOther, first);
    case TokenKind::kName: {
      const bool alias = is_word("type") && kind(1) == TokenKind::kName &&
                         (kind(2) == TokenKind::kAssign || kind(2) == TokenKind::kOpenBracket);
      return alias ? type_alias() : expression_statement();
    }
    default:
      return expression_statement();
  }
}

NodeId Parser::expression_statement() {
  const uint32_t first = at_;
  List parts;
  append(parts, value());
  if (is(TokenKind::kAssign)) {
    while (accept(TokenKind::kAssign)) append(parts, value());
    return make(NodeKind::kAssign, first, parts);
  }
  if (accept(TokenKind::kAugmentedAssign)) {
    append(parts, value());
    return make(NodeKind::kAugmented, first, parts);
  }
  if (accept(TokenKind::kColon)) {
    append(parts, expression());
    if (accept(TokenKind::kAssign)) append(parts, value());
    return make(NodeKind::kAnnotated, first, parts);
  }
  return make(NodeKind::kExpression, first, parts);
}

NodeId Parser::raise_or_assert() {
  const uint32_t first = at_;
  const bool raise = is(TokenKind::kRaise);
  ++at_;
  List parts;
  if (starts_expression()) append(parts, expression());
  if (accept(raise ? TokenKind::kFrom : TokenKind::kComma)) append(parts, expression());
  return make(raise ? NodeKind::kRaise : NodeKind::kAssert, first, parts);
}

NodeId Parser::import_statement() {
  const uint32_t first = at_++;
  List names;
  imported_names(names);
  return make(NodeKind::kImport, first, names);
}

NodeId Parser::import_from() {
  const uint32_t first = at_++;
  while (is(TokenKind::kDot) || is(TokenKind::kEllipsis) || is(TokenKind::kName)) ++at_;
  const uint32_t keyword = at_;
  expect(TokenKind::kImport);
  List names;
  const uint32_t star = at_;
  if (accept(TokenKind::kStar)) {
    append(names, make(NodeKind::kImportName, star));
  } else if (accept(TokenKind::kOpenParen)) {
    imported_names(names);
    expect(TokenKind::kCloseParen);
  } else {
    imported_names(names);
  }
  return make(NodeKind::kImportFrom, first, names, keyword);
}

void Parser::imported_names(List& into) {
  while (!failed_ && is(TokenKind::kName)) {
    const uint32_t first = at_++;
    while (accept(TokenKind::kDot)) expect(TokenKind::kName);
    uint32_t alias = 0;
    if (accept(TokenKind::kAs)) {
      alias = at_;
      expect(TokenKind::kName);
    }
    append(into, make(NodeKind::kImportName, first, List{}, alias));
    if (!accept(TokenKind::kComma)) break;
  }
  if (into.count == 0) fail();
}

NodeId Parser::type_alias() {
  const uint32_t first = at_++;
  const uint32_t name = at_++;
  if (is(TokenKind::kOpenBracket)) skip_brackets();
  expect(TokenKind::kAssign);
  return make(NodeKind::kTypeAlias, first, expression(), name);
}

void Parser::skip_brackets() {
  int depth = 0;
  for (; !is(TokenKind::kNewline) && !is(TokenKind::kEnd); ++at_) {
    if (is(TokenKind::kOpenBracket)) ++depth;
    if (is(TokenKind::kCloseBracket) && --depth == 0) break;
  }
  expect(TokenKind::kCloseBracket);
}

}  // namespace fathom::python
