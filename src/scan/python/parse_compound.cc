#include "scan/python/parser.h"

namespace fathom::python {

// A colon and what it opens: lines that are indented, or statements on the same line. After a
// header that made no sense the colon is missing.
NodeId Parser::block() {
  accept(TokenKind::kColon);
  const uint32_t first = at_;
  List list;
  if (accept(TokenKind::kNewline) || is(TokenKind::kIndent)) {
    if (!accept(TokenKind::kIndent)) {
      tree_.damaged = true;
      return make(NodeKind::kBlock, first);
    }
    if (++depth_ > kDeepest) {
      skip_block();
    } else {
      statements(list);
    }
    --depth_;
    accept(TokenKind::kDedent);
  } else {
    simple_statements(list);
  }
  const NodeId node = make(NodeKind::kBlock, first, list);
  // A block ends with its last statement, not with the line breaks and dedents after it.
  if (list.last != 0) {
    tree_.nodes[node].first = tree_.nodes[list.first].first;
    tree_.nodes[node].last = tree_.nodes[list.last].last;
  }
  return node;
}

// To the dedent that ends the block.
void Parser::skip_block() {
  tree_.damaged = true;
  for (int open = 0; !is(TokenKind::kEnd); ++at_) {
    if (is(TokenKind::kIndent)) ++open;
    if (is(TokenKind::kDedent) && open-- == 0) return;
  }
}

NodeId Parser::decorated() {
  const uint32_t first = at_;
  List list;
  while (is(TokenKind::kAt)) {
    const uint32_t begin = at_++;
    const NodeId decorator = expression();
    if (failed_ || !is(TokenKind::kNewline)) {
      at_ = begin;
      skip_line();
    } else {
      append(list, decorator);
    }
    accept(TokenKind::kNewline);
  }
  const NodeId decorators = make(NodeKind::kDecorators, first, list);
  if (is(TokenKind::kClass)) return class_definition(first, decorators);
  const bool function_follows =
      is(TokenKind::kDef) || (is(TokenKind::kAsync) && kind(1) == TokenKind::kDef);
  if (function_follows) return function(first, decorators);
  tree_.damaged = true;
  return decorators;
}

NodeId Parser::function(uint32_t first, NodeId decorators) {
  uint32_t name = 0;
  List parts;
  append(parts, decorators);
  header([&] {
    accept(TokenKind::kAsync);
    expect(TokenKind::kDef);
    const uint32_t found = at_;
    expect(TokenKind::kName);
    if (!failed_) name = found;
    if (is(TokenKind::kOpenBracket)) skip_brackets();
    expect(TokenKind::kOpenParen);
    const NodeId list = parameters(TokenKind::kCloseParen);
    expect(TokenKind::kCloseParen);
    if (!failed_) append(parts, list);
    const uint32_t arrow = at_;
    if (!accept(TokenKind::kArrow)) return;
    const NodeId annotation = make(NodeKind::kReturns, arrow, expression());
    if (!failed_) append(parts, annotation);
  });
  append(parts, block());
  // Without a name it is no function, but what it holds is kept.
  const NodeKind kind = name == 0 ? NodeKind::kDamaged : NodeKind::kFunction;
  const NodeId node = make(kind, first, parts, name);
  tree_.nodes[node].last = tree_.nodes[parts.last].last;
  return node;
}

NodeId Parser::class_definition(uint32_t first, NodeId decorators) {
  uint32_t name = 0;
  List parts;
  append(parts, decorators);
  header([&] {
    expect(TokenKind::kClass);
    const uint32_t found = at_;
    expect(TokenKind::kName);
    if (!failed_) name = found;
    if (is(TokenKind::kOpenBracket)) skip_brackets();
    const uint32_t open = at_;
    List bases;
    if (accept(TokenKind::kOpenParen)) {
      arguments(bases);
      expect(TokenKind::kCloseParen);
    }
    append(parts, make(NodeKind::kArguments, open, bases));
  });
  append(parts, block());
  const NodeKind kind = name == 0 ? NodeKind::kDamaged : NodeKind::kClass;
  const NodeId node = make(kind, first, parts, name);
  tree_.nodes[node].last = tree_.nodes[parts.last].last;
  return node;
}

NodeId Parser::if_statement() {
  const uint32_t first = at_;
  List parts;
  do {
    ++at_;
    header([&] {
      const NodeId test = expression();
      if (!failed_) append(parts, test);
    });
    append(parts, block());
  } while (is(TokenKind::kElif));
  if (accept(TokenKind::kElse)) append(parts, block());
  const NodeId node = make(NodeKind::kIf, first, parts);
  tree_.nodes[node].last = tree_.nodes[parts.last].last;
  return node;
}

NodeId Parser::loop(uint32_t first) {
  const bool is_for = is(TokenKind::kFor);
  ++at_;
  List parts;
  header([&] {
    if (is_for) {
      const NodeId target = targets();
      expect(TokenKind::kIn);
      const NodeId iterated = expression_list();
      if (failed_) return;
      append(parts, target);
      append(parts, iterated);
    } else {
      const NodeId test = expression();
      if (!failed_) append(parts, test);
    }
  });
  append(parts, block());
  if (accept(TokenKind::kElse)) append(parts, block());
  const NodeId node = make(is_for ? NodeKind::kFor : NodeKind::kWhile, first, parts);
  tree_.nodes[node].last = tree_.nodes[parts.last].last;
  return node;
}

NodeId Parser::try_statement() {
  const uint32_t first = at_++;
  List parts;
  append(parts, block());
  while (is(TokenKind::kExcept)) append(parts, handler());
  if (accept(TokenKind::kElse)) append(parts, block());
  if (accept(TokenKind::kFinally)) append(parts, block());
  if (parts.count == 1) tree_.damaged = true;
  const NodeId node = make(NodeKind::kTry, first, parts);
  tree_.nodes[node].last = tree_.nodes[parts.last].last;
  return node;
}

NodeId Parser::handler() {
  const uint32_t first = at_++;
  List parts;
  header([&] {
    accept(TokenKind::kStar);
    if (is(TokenKind::kColon)) return;
    const NodeId type = expression_list();
    if (accept(TokenKind::kAs)) expect(TokenKind::kName);
    if (!failed_) append(parts, type);
  });
  append(parts, block());
  const NodeId node = make(NodeKind::kHandler, first, parts);
  tree_.nodes[node].last = tree_.nodes[parts.last].last;
  return node;
}

NodeId Parser::with_statement(uint32_t first) {
  ++at_;
  List parts;
  header([&] {
    List items;
    if (at_bracketed_with()) {
      ++at_;
      with_items(items);
      expect(TokenKind::kCloseParen);
    } else {
      with_items(items);
    }
    if (!failed_) parts = items;
  });
  append(parts, block());
  const NodeId node = make(NodeKind::kWith, first, parts);
  tree_.nodes[node].last = tree_.nodes[parts.last].last;
  return node;
}

void Parser::with_items(List& into) {
  while (!failed_ && starts_expression()) {
    const uint32_t first = at_;
    NodeId item = is(TokenKind::kYield) ? yield() : starred_expression();
    if (at_comprehension()) item = comprehension(first, item);
    append(into, item);
    if (accept(TokenKind::kAs)) append(into, starred_expression());
    if (!accept(TokenKind::kComma)) break;
  }
  if (into.count == 0) fail();
}

// `with (a as b, c as d):`, where the brackets are the statement's and not an expression's.
bool Parser::at_bracketed_with() const {
  if (!is(TokenKind::kOpenParen)) return false;
  int depth = 0;
  for (uint32_t ahead = 0;; ++ahead) {
    const TokenKind found = kind(ahead);
    if (found == TokenKind::kNewline || found == TokenKind::kEnd) return false;
    if (found == TokenKind::kOpenParen) ++depth;
    if (found == TokenKind::kCloseParen && --depth == 0) {
      return kind(ahead + 1) == TokenKind::kColon;
    }
  }
}

// `match` is a name unless a line that it begins ends in a colon, with lines indented below.
bool Parser::at_match() const {
  if (!is_word("match")) return false;
  const TokenKind next = kind(1);
  if (next == TokenKind::kAssign || next == TokenKind::kDot || next == TokenKind::kNewline ||
      next == TokenKind::kColon) {
    return false;
  }
  uint32_t ahead = 1;
  while (kind(ahead) != TokenKind::kNewline && kind(ahead) != TokenKind::kEnd) ++ahead;
  return kind(ahead - 1) == TokenKind::kColon && kind(ahead + 1) == TokenKind::kIndent;
}

NodeId Parser::match_statement() {
  const uint32_t first = at_++;
  List parts;
  header([&] {
    const NodeId subject = expression_list();
    if (!failed_) append(parts, subject);
  });
  accept(TokenKind::kColon);
  accept(TokenKind::kNewline);
  accept(TokenKind::kIndent);
  if (++depth_ > kDeepest) skip_block();
  while (is_word("case")) append(parts, match_case());
  --depth_;
  if (!is(TokenKind::kDedent) && !is(TokenKind::kEnd)) {
    List rest;
    tree_.damaged = true;
    const uint32_t begin = at_;
    statements(rest);
    append(parts, make(NodeKind::kBlock, begin, rest));
  }
  const NodeId node = make(NodeKind::kMatch, first, parts);
  if (parts.last != 0) tree_.nodes[node].last = tree_.nodes[parts.last].last;
  accept(TokenKind::kDedent);
  return node;
}

NodeId Parser::match_case() {
  const uint32_t first = at_++;
  List parts;
  header([&] {
    const uint32_t begin = at_;
    List patterns;
    in_pattern_ = true;
    do {
      append(patterns, pattern());
    } while (accept(TokenKind::kComma) && starts_expression());
    in_pattern_ = false;
    const NodeId all = make(NodeKind::kPattern, begin, patterns);
    const NodeId guard = accept(TokenKind::kIf) ? expression() : 0;
    if (failed_) return;
    append(parts, all);
    append(parts, guard);
  });
  append(parts, block());
  const NodeId node = make(NodeKind::kCase, first, parts);
  tree_.nodes[node].last = tree_.nodes[parts.last].last;
  return node;
}

}  // namespace fathom::python
