// The expressions of CodeTreeReader.
#include <utility>

#include "base/text_parts.h"
#include "scan/cpp/tree/code_reader.h"

namespace fathom {
namespace {

int precedence(std::string_view op) {
  if (op.empty() || op.size() > 2) return 0;
  const char second = op.size() == 2 ? op[1] : '\0';
  switch (op[0]) {
    case '*':
    case '/':
    case '%':
      return second == 0 ? 10 : 0;
    case '+':
    case '-':
      return second == 0 ? 9 : 0;
    case '<':
    case '>':
      return second == op[0] ? 8 : 7;
    case '=':
    case '!':
      return second == '=' ? 6 : 0;
    case '&':
      return second == 0 ? 5 : second == '&' ? 2 : 0;
    case '^':
      return second == 0 ? 4 : 0;
    case '|':
      return second == 0 ? 3 : second == '|' ? 1 : 0;
    default:
      return 0;
  }
}

bool is_assignment(std::string_view op) {
  if (op.empty() || op.back() != '=') return false;
  return op.size() != 2 || (op[0] != '=' && op[0] != '!' && op[0] != '<' && op[0] != '>');
}

// How many characters the operator has that a text begins with.
size_t operator_length(std::string_view text) {
  const char first = text[0], second = text.size() > 1 ? text[1] : '\0';
  switch (first) {
    case '<':
    case '>':
      if (second == first) return text.size() > 2 && text[2] == '=' ? 3 : 2;
      return second == '=' ? 2 : 1;
    case '+':
    case '&':
    case '|':
      return second == first || second == '=' ? 2 : 1;
    case '-':
      return second == '-' || second == '=' || second == '>' ? 2 : 1;
    case '=':
    case '!':
    case '*':
    case '/':
    case '%':
    case '^':
      return second == '=' ? 2 : 1;
    default:
      return 1;
  }
}

}  // namespace

// Whether braces hold statements: a macro's argument, a body.
bool CodeTreeReader::holds_statements(size_t open) const {
  if (!brackets_.closed(open)) return false;
  const size_t close = closing(open);
  for (size_t i = open + 1; i < close; i = past(i)) {
    if (source_.is_any(i, {";", "if", "for", "while", "switch"})) {
      return true;
    }
  }
  return false;
}

uint32_t CodeTreeReader::list() {
  if (is("{") && depth_ < kMaxDepth && holds_statements(at_)) {
    ++depth_;
    const uint32_t code = block();
    --depth_;
    return code;
  }
  const uint32_t id = make(CodeKind::kList, at_);
  const size_t end = closing(at_);
  ++at_;
  const bool too_deep = depth_ >= kMaxDepth;
  if (too_deep) at_ = end;
  ++depth_;
  while (at_ < end) {
    if (is_directive() || is("...")) {
      ++at_;
      continue;
    }
    // {.name = value}
    if (is(".") && source_.is_name(at_ + 1) && source_.is(at_ + 2, "=")) at_ += 3;
    const size_t before = at_;
    adopt(id, is("{") ? list() : expression());
    if (!take(",") && at_ == before) ++at_;
  }
  --depth_;
  at_ = std::min(end + 1, last_);
  return finish(id);
}

uint32_t CodeTreeReader::comma_expression() {
  uint32_t id = expression();
  while (is(",")) {
    ++at_;
    const uint32_t both = make(CodeKind::kBinary, node(id).first);
    node(both).text = ",";
    adopt(both, id);
    adopt(both, expression());
    id = finish(both);
  }
  return id;
}

std::string_view CodeTreeReader::operator_here(size_t& tokens) const {
  tokens = 1;
  if (at_end() || source_.tokens[at_].kind != cpp::TokenKind::kPunctuator) return {};
  const cpp::Token& token = source_.tokens[at_];
  const std::string_view text = source_.text.substr(token.begin, 3);
  const size_t length = token.end - token.begin == 3 ? 3 : operator_length(text);
  while (at_ + tokens < last_ && source_.tokens[at_ + tokens].end <= token.begin + length) ++tokens;
  return text.substr(0, std::max<size_t>(length, token.end - token.begin));
}

uint32_t CodeTreeReader::too_deep() {
  const uint32_t id = make(CodeKind::kUnknown, at_);
  skip_to_end_of_expression();
  return finish(id);
}

uint32_t CodeTreeReader::expression() {
  if (depth_ >= kMaxDepth) return too_deep();
  ++depth_;
  uint32_t left = binary(1);
  if (is("?")) {
    const uint32_t id = make(CodeKind::kConditional, node(left).first);
    ++at_;
    adopt(id, left);
    adopt(id, expression());
    take(":");
    adopt(id, expression());
    left = finish(id);
  }
  size_t tokens = 0;
  const std::string_view op = operator_here(tokens);
  if (is_assignment(op)) {
    const uint32_t id = make(CodeKind::kAssign, node(left).first);
    node(id).text = op;
    at_ += tokens;
    adopt(id, left);
    adopt(id, is("{") ? list() : expression());
    left = finish(id);
  }
  --depth_;
  return left;
}

void CodeTreeReader::skip_to_end_of_expression() {
  while (!at_end() && !is(";") && !is(",") && !is(")") && !is("]") && !is("}")) at_ = past(at_);
}

uint32_t CodeTreeReader::binary(int lowest) {
  uint32_t left = unary();
  while (true) {
    size_t tokens = 0;
    const std::string_view op = operator_here(tokens);
    const int rank = precedence(op);
    if (rank < lowest || rank == 0) return left;
    const uint32_t id = make(CodeKind::kBinary, node(left).first);
    node(id).text = op;
    at_ += tokens;
    adopt(id, left);
    adopt(id, binary(rank + 1));
    left = finish(id);
  }
}

bool CodeTreeReader::is_cast() const {
  const size_t end = closing(at_);
  if (end >= last_) return false;
  const size_t type = past_type(at_ + 1);
  if (type == 0) return false;
  size_t stars = type;
  while (source_.is(stars, "*") || source_.is(stars, "&")) ++stars;
  if (stars != end) return false;
  const bool starts_value =
      end + 1 < last_ && (source_.is_name(end + 1) || source_.is(end + 1, "(") ||
                          source_.tokens[end + 1].kind == cpp::TokenKind::kNumber);
  if (stars > type) return starts_value || source_.is(end + 1, "&") || source_.is(end + 1, "*");
  if (is_builtin_type(source_.at(at_ + 1)))
    return starts_value || source_.is(end + 1, "-") || source_.is(end + 1, "*");
  return starts_value;
}

uint32_t CodeTreeReader::unary() {
  while (is_directive()) ++at_;
  if (depth_ >= kMaxDepth) return too_deep();
  ++depth_;
  uint32_t id = 0;
  size_t tokens = 0;
  const std::string_view op = operator_here(tokens);
  if (!op.empty() && is_one_of(op, {"&", "*", "-", "+", "!", "~", "++", "--"})) {
    id = make(CodeKind::kUnary, at_);
    node(id).text = op;
    at_ += tokens;
    adopt(id, unary());
    finish(id);
  } else if (is("(") && is_cast()) {
    id = make(CodeKind::kCast, at_);
    const size_t end = closing(at_);
    node(id).text = kept(at_ + 1, end);
    at_ = end + 1;
    adopt(id, unary());
    finish(id);
  } else {
    id = keyword_operand();
    if (id == 0) id = postfix();
  }
  --depth_;
  return id;
}

// new T(…), delete p, throw x, co_await f(): an operand behind a word.
uint32_t CodeTreeReader::keyword_operand() {
  if (!source_.is_name(at_) ||
      !is_one_of(source_.at(at_), {"new", "delete", "throw", "co_await", "co_yield"}))
    return 0;
  const uint32_t id = make(CodeKind::kUnary, at_);
  node(id).text = source_.at(at_++);
  if (node(id).text == "new" && is("(")) at_ = past(at_);     // where to place it
  if (node(id).text == "delete" && is("[")) at_ = past(at_);  // delete[]
  if (!at_end() && !is(";") && !is(")") && !is(",")) adopt(id, unary());
  return finish(id);
}

uint32_t CodeTreeReader::postfix() {
  uint32_t id = primary();
  while (!at_end()) {
    size_t tokens = 0;
    if (is("[")) {
      const uint32_t outer = make(CodeKind::kSubscript, node(id).first);
      const size_t end = closing(at_);
      ++at_;
      adopt(outer, id);
      adopt(outer, at_ < end ? expression() : make(CodeKind::kUnknown, at_));
      at_ = std::min(end + 1, last_);
      id = finish(outer);
    } else if (is("(")) {
      id = call(id);
    } else if ((is(".") || is("->")) && source_.is_name(at_ + 1)) {
      const uint32_t outer = make(CodeKind::kMember, node(id).first);
      ++at_;
      if (is("template")) ++at_;
      if (at_end()) return finish(outer);
      node(outer).text = source_.at(at_++);
      if (is("<") && closing(at_) < last_ && !ends_comparison(at_)) {
        node(outer).extra = kept(at_ + 1, closing(at_));
        at_ = closing(at_) + 1;
      }
      adopt(outer, id);
      id = finish(outer);
    } else if (is("<<<")) {
      id = launch(id);
    } else if (const std::string_view op = operator_here(tokens); op == "++" || op == "--") {
      const uint32_t outer = make(CodeKind::kPostfix, node(id).first);
      node(outer).text = op;
      at_ += tokens;
      adopt(outer, id);
      id = finish(outer);
    } else if (is("{") && node(id).kind == CodeKind::kName && !source_.is(at_ - 1, ")")) {
      id = call(id);  // T{…}
    } else {
      return id;
    }
  }
  return id;
}

uint32_t CodeTreeReader::call(uint32_t callee) {
  const bool round = is("(");
  const uint32_t items = list();
  const std::string_view name = node(callee).text;
  const Links& given = links_[items];
  const bool builtin = round && is_builtin_type(name);
  const bool cast =
      node(callee).kind == CodeKind::kName && given.first != 0 && given.first == given.last &&
      (builtin || name == "static_cast" || name == "reinterpret_cast" || name == "const_cast");
  const uint32_t id = make(cast ? CodeKind::kCast : CodeKind::kCall, node(callee).first);
  if (cast) {
    node(id).text = builtin ? name : std::string_view(node(callee).extra);
  } else {
    adopt(id, callee);
  }
  if (node(items).kind == CodeKind::kBlock) {
    adopt(id, items);  // NAME { statements }
  } else {
    take_children(id, items);
  }
  return finish(id);
}

// kernel<<<grid, block>>>
uint32_t CodeTreeReader::launch(uint32_t kernel) {
  const uint32_t id = make(CodeKind::kLaunch, node(kernel).first);
  const size_t end = closing(at_);
  ++at_;
  adopt(id, kernel);
  ++depth_;
  const size_t after = std::exchange(last_, end);  // >>> is no operator here
  while (at_ < end) {
    const size_t before = at_;
    adopt(id, is("{") ? list() : expression());
    if (!take(",") && at_ == before) ++at_;
  }
  last_ = after;
  --depth_;
  at_ = std::min(end + 3, last_);  // >>> is three tokens
  return finish(id);
}

uint32_t CodeTreeReader::primary() {
  if (is("(")) {
    const size_t open = at_, end = closing(at_);
    ++at_;
    const uint32_t id = comma_expression();
    at_ = std::min(end + 1, last_);
    node(id).first = static_cast<uint32_t>(open);  // the brackets are its own
    return finish(id);
  }
  if (is("[")) return lambda();
  if (is("{")) return list();
  if (at_end()) return make(CodeKind::kUnknown, at_);
  return source_.is_name(at_) || is("::") ? name() : literal();
}

uint32_t CodeTreeReader::literal() {
  const uint32_t id = make(CodeKind::kUnknown, at_);
  const cpp::TokenKind kind = source_.tokens[at_].kind;
  node(id).text = source_.at(at_);
  if (kind == cpp::TokenKind::kNumber) node(id).kind = CodeKind::kNumber;
  if (kind == cpp::TokenKind::kCharacter) node(id).kind = CodeKind::kLiteral;
  if (kind == cpp::TokenKind::kString) {
    node(id).kind = CodeKind::kLiteral;
    const auto is_string = [&](size_t i) {
      return i < last_ && source_.tokens[i].kind == cpp::TokenKind::kString;
    };
    // "a" "b", "a" PRIu64 "b"
    while (is_string(at_ + 1) || (source_.is_name(at_ + 1) && is_string(at_ + 2))) ++at_;
  }
  const bool closes = is(";") || is(")") || is("]") || is("}") || is(",");
  if (!closes) ++at_;
  return finish(id);
}

uint32_t CodeTreeReader::name() {
  if (is("typename") && source_.is_name(at_ + 1)) ++at_;
  const uint32_t id = make(CodeKind::kName, at_);
  if (is("true") || is("false") || is("nullptr") || is("this")) node(id).kind = CodeKind::kLiteral;
  take("::");
  const size_t first = at_;
  std::string made;      // where template arguments stand inside
  size_t written = at_;  // of the name, up to which `made` has it
  size_t end = at_;
  while (source_.is_name(at_) && at_ < last_) {
    end = ++at_;
    node(id).extra = {};
    if (is("<") && closing(at_) < last_ && !ends_comparison(at_)) {
      const size_t close = closing(at_);
      node(id).extra = kept(at_ + 1, close);
      at_ = close + 1;
    }
    if (!is("::") || !source_.is_name(at_ + 1)) break;
    if (at_ > end) {
      for (size_t i = written; i < end; ++i) made += source_.at(i);
      written = at_;
    }
    ++at_;
    if (is("template") && source_.is_name(at_ + 1)) {
      for (size_t i = written; i < at_; ++i) made += source_.at(i);
      written = ++at_;
    }
  }
  const uint32_t begin = first < source_.size() ? source_.tokens[first].begin : 0;
  const uint32_t length = end > first ? source_.tokens[end - 1].end - begin : 0;
  uint32_t spelled = 0;
  for (size_t i = first; i < end; ++i) spelled += source_.tokens[i].end - source_.tokens[i].begin;
  if (made.empty() && spelled == length) {
    node(id).text = source_.text.substr(begin, length);
  } else {
    for (size_t i = written; i < end; ++i) made += source_.at(i);
    node(id).text = std::string_view(tree_.texts_.emplace_front(std::move(made)));
  }
  return finish(id);
}

bool CodeTreeReader::ends_comparison(size_t open) const {
  const size_t after = brackets_.partner(open) + 1;
  return !source_.is_any(after, {"(", "::", "{", ")", ",", ";", "&&", "<<<"});
}

uint32_t CodeTreeReader::lambda() {
  const uint32_t id = make(CodeKind::kLambda, at_);
  at_ = std::min(closing(at_) + 1, last_);
  if (is("(") && brackets_.closed(at_)) {
    const size_t end = closing(at_);
    node(id).text = kept(at_ + 1, end);
    at_ = std::min(end + 1, last_);
  }
  while (!at_end() && !is("{") && !is(";") && !is(")") && !is(",") && !is("}")) at_ = past(at_);
  if (is("{") && depth_ < kMaxDepth) {
    ++depth_;
    adopt(id, block());
    --depth_;
  }
  return finish(id);
}

}  // namespace fathom
