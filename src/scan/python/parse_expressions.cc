#include "scan/python/parser.h"

namespace fathom::python {
namespace {

// How tightly a binary operator binds; 0: it is none.
int level_of(TokenKind kind) {
  switch (kind) {
    case TokenKind::kOr:
      return kOrLevel;
    case TokenKind::kAnd:
      return kAndLevel;
    case TokenKind::kComparison:
    case TokenKind::kIn:
    case TokenKind::kIs:
    case TokenKind::kNot:  // of `not in`; as a prefix it is an operand
      return kCompareLevel;
    case TokenKind::kPipe:
      return kBitOrLevel;
    case TokenKind::kCaret:
      return kBitOrLevel + 1;
    case TokenKind::kAmpersand:
      return kBitOrLevel + 2;
    case TokenKind::kShift:
      return kBitOrLevel + 3;
    case TokenKind::kPlus:
    case TokenKind::kMinus:
      return kBitOrLevel + 4;
    case TokenKind::kStar:
    case TokenKind::kSlash:
    case TokenKind::kDoubleSlash:
    case TokenKind::kPercent:
    case TokenKind::kAt:
      return kBitOrLevel + 5;
    default:
      return 0;
  }
}

}  // namespace

NodeId Parser::make(NodeKind kind, uint32_t first, const List& children, uint32_t extra) {
  if (failed_) return 0;
  const uint32_t last = at_ > first ? at_ - 1 : first;
  tree_.nodes.push_back({kind, 0, first, last, extra, children.first, 0});
  return static_cast<NodeId>(tree_.nodes.size() - 1);
}

bool Parser::starts_expression() const {
  switch (kind()) {
    case TokenKind::kName:
    case TokenKind::kNumber:
    case TokenKind::kString:
    case TokenKind::kFStringBegin:
    case TokenKind::kOpenParen:
    case TokenKind::kOpenBracket:
    case TokenKind::kOpenBrace:
    case TokenKind::kEllipsis:
    case TokenKind::kStar:
    case TokenKind::kDoubleStar:
    case TokenKind::kPlus:
    case TokenKind::kMinus:
    case TokenKind::kTilde:
    case TokenKind::kNot:
    case TokenKind::kLambda:
    case TokenKind::kAwait:
    case TokenKind::kYield:
      return true;
    default:
      return false;
  }
}

NodeId Parser::expression() {
  if (is(TokenKind::kLambda)) return lambda();
  const uint32_t first = at_;
  const NodeId left = binary(kOrLevel);
  if (accept(TokenKind::kWalrus)) {
    List both;
    append(both, left);
    append(both, expression());
    return make(NodeKind::kNamed, first, both);
  }
  if (!is(TokenKind::kIf)) return left;
  List parts;
  append(parts, left);
  while (accept(TokenKind::kIf)) {
    append(parts, binary(kOrLevel));
    expect(TokenKind::kElse);
    append(parts, is(TokenKind::kLambda) ? lambda() : binary(kOrLevel));
  }
  return make(NodeKind::kConditional, first, parts);
}

NodeId Parser::starred_expression() {
  const uint32_t first = at_;
  if (accept(TokenKind::kStar)) return make(NodeKind::kStarred, first, binary(kBitOrLevel));
  return in_pattern_ ? binary(kBitOrLevel) : expression();  // the `if` after a pattern is its guard
}

NodeId Parser::expression_list() {
  const uint32_t first = at_;
  List items;
  append(items, starred_expression());
  if (!is(TokenKind::kComma)) return items.first;
  while (accept(TokenKind::kComma) && starts_expression()) append(items, starred_expression());
  return make(NodeKind::kTuple, first, items);
}

NodeId Parser::value() { return is(TokenKind::kYield) ? yield() : expression_list(); }

// `in` belongs to the for around them.
NodeId Parser::targets() {
  const uint32_t first = at_;
  const auto target = [this] {
    const uint32_t star = at_;
    if (accept(TokenKind::kStar)) return make(NodeKind::kStarred, star, binary(kBitOrLevel));
    return binary(kBitOrLevel);
  };
  List items;
  append(items, target());
  if (!is(TokenKind::kComma)) return items.first;
  while (accept(TokenKind::kComma) && starts_expression()) append(items, target());
  return make(NodeKind::kTuple, first, items);
}

NodeId Parser::binary(int level) {
  const uint32_t first = at_;
  NodeId left = operand();
  TokenKind chained = TokenKind::kEnd;  // the operator of `left`, where it was made here
  List operands;
  while (!failed_) {
    const TokenKind op = kind();
    const int found = level_of(op);
    if (found == 0 || found < level) break;
    if (op == TokenKind::kNot && kind(1) != TokenKind::kIn) break;
    const uint32_t op_token = at_++;
    if (op == TokenKind::kNot) ++at_;
    if (op == TokenKind::kIs) accept(TokenKind::kNot);
    const NodeId right = binary(found + 1);
    const bool compare = found == kCompareLevel;
    const NodeKind node = compare ? NodeKind::kCompare
                                  : (found <= kAndLevel ? NodeKind::kBoolean : NodeKind::kBinary);
    const bool joins = chained == op || (compare && level_of(chained) == kCompareLevel);
    if (joins && !failed_) {  // one node for a + b + c
      append(operands, right);
      tree_.nodes[left].last = at_ - 1;
      continue;
    }
    operands = {};
    append(operands, left);
    append(operands, right);
    left = make(node, first, operands, op_token);
    chained = op;
  }
  return left;
}

NodeId Parser::operand() {
  const DepthGuard guard(depth_);
  if (depth_ > kDeepest) {
    fail();
    return 0;
  }
  const uint32_t first = at_;
  if (is(TokenKind::kNot)) {
    while (accept(TokenKind::kNot)) {
    }
    return make(NodeKind::kUnary, first, binary(kCompareLevel), first);
  }
  if (is(TokenKind::kPlus) || is(TokenKind::kMinus) || is(TokenKind::kTilde)) {
    while (is(TokenKind::kPlus) || is(TokenKind::kMinus) || is(TokenKind::kTilde)) ++at_;
    return make(NodeKind::kUnary, first, power(), first);
  }
  return power();
}

NodeId Parser::power() {
  const uint32_t first = at_;
  NodeId base = 0;
  if (accept(TokenKind::kAwait)) {
    base = make(NodeKind::kAwait, first, primary());
  } else {
    base = primary();
  }
  if (!is(TokenKind::kDoubleStar)) return base;
  const uint32_t op_token = at_++;
  List both;
  append(both, base);
  append(both, operand());
  return make(NodeKind::kBinary, first, both, op_token);
}

NodeId Parser::primary() {
  const uint32_t first = at_;
  NodeId node = atom();
  while (!failed_) {
    List parts;
    append(parts, node);
    if (accept(TokenKind::kDot)) {
      expect(TokenKind::kName);
      node = make(NodeKind::kAttribute, first, parts, at_ - 1);
    } else if (accept(TokenKind::kOpenParen)) {
      arguments(parts);
      expect(TokenKind::kCloseParen);
      node = make(in_pattern_ ? NodeKind::kPattern : NodeKind::kCall, first, parts);
    } else if (accept(TokenKind::kOpenBracket)) {
      append(parts, subscript_index());
      expect(TokenKind::kCloseBracket);
      node = make(NodeKind::kSubscript, first, parts);
    } else {
      break;
    }
  }
  return node;
}

NodeId Parser::atom() {
  const uint32_t first = at_;
  switch (kind()) {
    case TokenKind::kName:
      ++at_;
      return make(NodeKind::kName, first);
    case TokenKind::kNumber:
      ++at_;
      return make(NodeKind::kNumber, first);
    case TokenKind::kEllipsis:
      ++at_;
      return make(NodeKind::kEllipsis, first);
    case TokenKind::kString:
    case TokenKind::kFStringBegin:
      return strings();
    case TokenKind::kOpenParen:
      return group();
    case TokenKind::kOpenBracket:
      return list_display();
    case TokenKind::kOpenBrace:
      return brace_display();
    default:
      fail();
      return 0;
  }
}

NodeId Parser::lambda() {
  const DepthGuard guard(depth_);
  if (depth_ > kDeepest) fail();
  const uint32_t first = at_;
  expect(TokenKind::kLambda);
  List parts;
  append(parts, parameters(TokenKind::kColon));
  expect(TokenKind::kColon);
  append(parts, is(TokenKind::kYield) ? yield() : expression());
  return make(NodeKind::kLambda, first, parts);
}

// Up to the closing token, which is left. A lambda's end at the colon, so they have no annotations.
NodeId Parser::parameters(TokenKind closing) {
  const uint32_t first = at_;
  List list;
  while (!failed_ && !is(closing)) {
    append(list, parameter(closing == TokenKind::kCloseParen));
    if (!accept(TokenKind::kComma)) break;
  }
  return make(NodeKind::kParameters, first, list);
}

NodeId Parser::parameter(bool annotated) {
  const uint32_t first = at_;
  uint8_t flags = 0;
  if (accept(TokenKind::kStar)) {
    flags = kIsStar;
  } else if (accept(TokenKind::kDoubleStar)) {
    flags = kIsDoubleStar;
  } else if (accept(TokenKind::kSlash)) {
    flags = kIsMark;
  }
  uint32_t name = at_;
  List parts;
  if (flags == kIsMark || (flags == kIsStar && !is(TokenKind::kName))) {
    flags |= kIsMark;
    name = first;
  } else {
    expect(TokenKind::kName);
    if (annotated && accept(TokenKind::kColon)) {
      append(parts, starred_expression());
      flags |= kHasAnnotation;
    }
    if (accept(TokenKind::kAssign)) {
      append(parts, expression());
      flags |= kHasDefault;
    }
  }
  const NodeId node = make(NodeKind::kParameter, first, parts, name);
  if (node != 0) tree_.nodes[node].flags = flags;
  return node;
}

NodeId Parser::yield() {
  const uint32_t first = at_;
  expect(TokenKind::kYield);
  if (accept(TokenKind::kFrom)) return make(NodeKind::kYield, first, expression());
  return make(NodeKind::kYield, first, starts_expression() ? expression_list() : 0);
}

// A pattern looks like an expression with `as`; what looks like a call in it is none.
NodeId Parser::pattern() {
  const uint32_t first = at_;
  List parts;
  if (is(TokenKind::kDoubleStar)) ++at_;
  append(parts, starred_expression());
  if (!accept(TokenKind::kAs)) return parts.first;
  expect(TokenKind::kName);
  return make(NodeKind::kPattern, first, parts);
}

}  // namespace fathom::python
