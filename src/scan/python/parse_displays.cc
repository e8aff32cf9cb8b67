// What stands in brackets: displays, arguments, subscripts, comprehensions, and f-strings.
#include "scan/python/parser.h"

namespace fathom::python {

NodeId Parser::strings() {
  const uint32_t first = at_;
  List fields;
  while (true) {
    if (accept(TokenKind::kString)) continue;
    if (!accept(TokenKind::kFStringBegin)) break;
    while (!failed_ && !accept(TokenKind::kFStringEnd)) {
      if (accept(TokenKind::kFStringText)) continue;
      append(fields, field());
    }
  }
  return make(NodeKind::kString, first, fields);
}

NodeId Parser::field() {
  const DepthGuard guard(depth_);
  if (depth_ > kDeepest) fail();
  const uint32_t first = at_;
  expect(TokenKind::kFieldOpen);
  List parts;
  append(parts, value());
  accept(TokenKind::kAssign);  // {x=}
  if (accept(TokenKind::kBang)) expect(TokenKind::kName);
  if (accept(TokenKind::kColon)) {
    while (!failed_ && !is(TokenKind::kFieldClose)) {
      if (accept(TokenKind::kFStringText)) continue;
      append(parts, field());
    }
  }
  expect(TokenKind::kFieldClose);
  return make(NodeKind::kField, first, parts);
}

NodeId Parser::group() {
  const uint32_t first = at_++;
  if (accept(TokenKind::kCloseParen)) return make(NodeKind::kTuple, first);
  if (is(TokenKind::kYield)) {
    const NodeId inner = yield();
    expect(TokenKind::kCloseParen);
    return inner;
  }
  const NodeId element = in_pattern_ ? pattern() : starred_expression();
  if (at_comprehension()) {
    const NodeId node = comprehension(first, element);
    expect(TokenKind::kCloseParen);
    if (node != 0) tree_.nodes[node].last = at_ - 1;
    return node;
  }
  if (accept(TokenKind::kCloseParen)) return element;
  List items;
  append(items, element);
  display_rest(items, TokenKind::kCloseParen);
  return make(NodeKind::kTuple, first, items);
}

NodeId Parser::list_display() {
  const uint32_t first = at_++;
  List items;
  if (!accept(TokenKind::kCloseBracket)) {
    append(items, in_pattern_ ? pattern() : starred_expression());
    if (at_comprehension()) {
      const NodeId node = comprehension(first, items.first);
      expect(TokenKind::kCloseBracket);
      if (node != 0) tree_.nodes[node].last = at_ - 1;
      return node;
    }
    display_rest(items, TokenKind::kCloseBracket);
  }
  return make(NodeKind::kList, first, items);
}

// The items after the first one, and the closing bracket.
void Parser::display_rest(List& items, TokenKind closing) {
  while (accept(TokenKind::kComma) && starts_expression()) {
    append(items, in_pattern_ ? pattern() : starred_expression());
  }
  expect(closing);
}

NodeId Parser::brace_display() {
  const uint32_t first = at_++;
  List items;
  NodeKind kind = NodeKind::kDict;
  if (!accept(TokenKind::kCloseBrace)) {
    append(items, brace_item());
    if (at_comprehension()) {
      const NodeId node = comprehension(first, items.first);
      expect(TokenKind::kCloseBrace);
      if (node != 0) tree_.nodes[node].last = at_ - 1;
      return node;
    }
    const NodeKind item = tree_.nodes[items.first].kind;
    if (item != NodeKind::kPair && item != NodeKind::kDoubleStarred) kind = NodeKind::kSet;
    while (accept(TokenKind::kComma) && starts_expression()) append(items, brace_item());
    expect(TokenKind::kCloseBrace);
  }
  return make(kind, first, items);
}

NodeId Parser::brace_item() {
  const uint32_t first = at_;
  if (accept(TokenKind::kDoubleStar)) {
    return make(NodeKind::kDoubleStarred, first, binary(kBitOrLevel));
  }
  List both;
  append(both, starred_expression());
  if (!accept(TokenKind::kColon)) return both.first;
  append(both, in_pattern_ ? pattern() : expression());
  return make(NodeKind::kPair, first, both);
}

NodeId Parser::subscript_index() {
  const uint32_t first = at_;
  List items;
  append(items, slice());
  if (!is(TokenKind::kComma)) return items.first;
  while (accept(TokenKind::kComma) && (starts_expression() || is(TokenKind::kColon))) {
    append(items, slice());
  }
  return make(NodeKind::kTuple, first, items);
}

NodeId Parser::slice() {
  const uint32_t first = at_;
  List bounds;
  if (!is(TokenKind::kColon)) append(bounds, starred_expression());
  if (!is(TokenKind::kColon)) return bounds.first;
  while (accept(TokenKind::kColon)) {
    if (starts_expression()) append(bounds, expression());
  }
  return make(NodeKind::kSlice, first, bounds);
}

void Parser::arguments(List& into) {
  while (!failed_ && starts_expression()) {
    append(into, argument());
    if (!accept(TokenKind::kComma)) break;
  }
}

NodeId Parser::argument() {
  const uint32_t first = at_;
  if (accept(TokenKind::kStar)) return make(NodeKind::kStarred, first, expression());
  if (accept(TokenKind::kDoubleStar)) return make(NodeKind::kDoubleStarred, first, expression());
  if (is(TokenKind::kName) && kind(1) == TokenKind::kAssign) {
    at_ += 2;
    return make(NodeKind::kKeyword, first, in_pattern_ ? pattern() : expression(), first);
  }
  const NodeId node = in_pattern_ ? pattern() : expression();
  return at_comprehension() ? comprehension(first, node) : node;
}

NodeId Parser::comprehension(uint32_t first, NodeId element) {
  List parts;
  append(parts, element);
  while (at_comprehension()) {
    const uint32_t begin = at_;
    accept(TokenKind::kAsync);
    expect(TokenKind::kFor);
    List loop;
    append(loop, targets());
    expect(TokenKind::kIn);
    append(loop, binary(kOrLevel));
    while (accept(TokenKind::kIf)) {
      const uint32_t condition = at_;
      List named;
      append(named, is(TokenKind::kLambda) ? lambda() : binary(kOrLevel));
      if (accept(TokenKind::kWalrus)) {
        append(named, expression());
        append(loop, make(NodeKind::kNamed, condition, named));
      } else {
        append(loop, named.first);
      }
    }
    append(parts, make(NodeKind::kComprehensionFor, begin, loop));
  }
  return make(NodeKind::kComprehension, first, parts);
}

}  // namespace fathom::python
