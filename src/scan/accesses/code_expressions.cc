// The expressions of CodeReader.
#include "scan/accesses/code_reader.h"

namespace fathom {
namespace {

int precedence(std::string_view op) {
  if (op == "*" || op == "/" || op == "%") return 10;
  if (op == "+" || op == "-") return 9;
  if (op == "<<" || op == ">>") return 8;
  if (op == "<" || op == ">" || op == "<=" || op == ">=") return 7;
  if (op == "==" || op == "!=") return 6;
  if (op == "&") return 5;
  if (op == "^") return 4;
  if (op == "|") return 3;
  if (op == "&&") return 2;
  if (op == "||") return 1;
  return 0;
}

bool is_assignment(std::string_view op) {
  constexpr std::array<std::string_view, 11> ops = {
      "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
  return among(op, ops);
}

}  // namespace

uint32_t CodeReader::list() {
  const uint32_t id = make(CodeKind::kList, at_);
  const size_t end = closing(at_);
  ++at_;
  const bool too_deep = depth_ >= kMaxDepth;
  if (too_deep) at_ = end;
  ++depth_;
  while (at_ < end) {
    const size_t before = at_;
    adopt(id, is("{") ? list() : expression());
    if (!take(",") && at_ == before) ++at_;
  }
  --depth_;
  at_ = std::min(end + 1, source_.size());
  return finish(id);
}

uint32_t CodeReader::comma_expression() {
  uint32_t id = expression();
  while (is(",")) {
    ++at_;
    const uint32_t both = make(CodeKind::kBinary, tree_.nodes[id].first);
    tree_.nodes[both].text = ",";
    adopt(both, id);
    adopt(both, expression());
    id = finish(both);
  }
  return id;
}

std::string CodeReader::operator_here(size_t& tokens) const {
  constexpr std::array<std::string_view, 21> known = {
      "<<=", ">>=", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++",
      "--",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^=", "->"};
  tokens = 1;
  if (at_end() || source_.tokens[at_].kind != cpp::TokenKind::kPunctuator) return "";
  const uint32_t begin = source_.tokens[at_].begin;
  for (const std::string_view op : known) {
    if (!source_.text.substr(begin).starts_with(op)) continue;
    tokens = 0;
    while (at_ + tokens < source_.size() && source_.tokens[at_ + tokens].end <= begin + op.size())
      ++tokens;
    return std::string(op);
  }
  return std::string(source_.at(at_));
}

uint32_t CodeReader::expression() {
  if (++depth_ > kMaxDepth) {
    --depth_;
    const uint32_t id = make(CodeKind::kUnknown, at_);
    skip_to_end_of_expression();
    return finish(id);
  }
  uint32_t left = binary(1);
  if (is("?")) {
    const uint32_t id = make(CodeKind::kConditional, tree_.nodes[left].first);
    ++at_;
    adopt(id, left);
    adopt(id, expression());
    take(":");
    adopt(id, expression());
    left = finish(id);
  }
  size_t tokens = 0;
  const std::string op = operator_here(tokens);
  if (is_assignment(op)) {
    const uint32_t id = make(CodeKind::kAssign, tree_.nodes[left].first);
    tree_.nodes[id].text = op;
    at_ += tokens;
    adopt(id, left);
    adopt(id, is("{") ? list() : expression());
    left = finish(id);
  }
  --depth_;
  return left;
}

void CodeReader::skip_to_end_of_expression() {
  while (!at_end() && !is(";") && !is(",") && !is(")") && !is("]") && !is("}")) {
    const bool opens = is("(") || is("[") || is("{");
    at_ = opens ? std::min(closing(at_) + 1, source_.size()) : at_ + 1;
  }
}

uint32_t CodeReader::binary(int lowest) {
  uint32_t left = unary();
  while (true) {
    size_t tokens = 0;
    const std::string op = operator_here(tokens);
    const int rank = precedence(op);
    if (rank < lowest || rank == 0) return left;
    const uint32_t id = make(CodeKind::kBinary, tree_.nodes[left].first);
    tree_.nodes[id].text = op;
    at_ += tokens;
    adopt(id, left);
    adopt(id, binary(rank + 1));
    left = finish(id);
  }
}

bool CodeReader::is_cast() const {
  const size_t end = closing(at_);
  if (end >= source_.size()) return false;
  const size_t type = past_type(at_ + 1);
  if (type == 0) return false;
  size_t stars = type;
  while (source_.is(stars, "*") || source_.is(stars, "&")) ++stars;
  if (stars != end) return false;
  const bool starts_value =
      end + 1 < source_.size() && (source_.is_name(end + 1) || source_.is(end + 1, "(") ||
                                   source_.tokens[end + 1].kind == cpp::TokenKind::kNumber);
  if (stars > type) return starts_value || source_.is(end + 1, "&") || source_.is(end + 1, "*");
  if (is_builtin_type(source_.at(at_ + 1)))
    return starts_value || source_.is(end + 1, "-") || source_.is(end + 1, "*");
  return starts_value;
}

uint32_t CodeReader::unary() {
  if (++depth_ > kMaxDepth) {
    --depth_;
    const uint32_t id = make(CodeKind::kUnknown, at_);
    skip_to_end_of_expression();
    return finish(id);
  }
  uint32_t id = 0;
  constexpr std::array<std::string_view, 8> ops = {"&", "*", "-", "+", "!", "~", "++", "--"};
  size_t tokens = 0;
  const std::string op = operator_here(tokens);
  if (among(std::string_view(op), ops)) {
    id = make(CodeKind::kUnary, at_);
    tree_.nodes[id].text = op;
    at_ += tokens;
    adopt(id, unary());
    finish(id);
  } else if (is("(") && is_cast()) {
    id = make(CodeKind::kCast, at_);
    const size_t end = closing(at_);
    tree_.nodes[id].text = source_.source(at_ + 1, end);
    at_ = end + 1;
    adopt(id, unary());
    finish(id);
  } else {
    id = postfix();
  }
  --depth_;
  return id;
}

uint32_t CodeReader::postfix() {
  uint32_t id = primary();
  while (!at_end()) {
    if (is("[")) {
      const uint32_t outer = make(CodeKind::kSubscript, tree_.nodes[id].first);
      const size_t end = closing(at_);
      ++at_;
      adopt(outer, id);
      adopt(outer, at_ < end ? expression() : make(CodeKind::kUnknown, at_));
      at_ = std::min(end + 1, source_.size());
      id = finish(outer);
    } else if (is("(")) {
      id = call(id);
    } else if ((is(".") || is("->")) && source_.is_name(at_ + 1)) {
      const uint32_t outer = make(CodeKind::kMember, tree_.nodes[id].first);
      ++at_;
      if (is("template")) ++at_;
      tree_.nodes[outer].text = source_.at(at_++);
      if (is("<") && brackets_.closed(at_)) at_ = brackets_.partner(at_) + 1;
      adopt(outer, id);
      id = finish(outer);
    } else if (size_t tokens = 0; operator_here(tokens) == "++" || operator_here(tokens) == "--") {
      const uint32_t outer = make(CodeKind::kPostfix, tree_.nodes[id].first);
      tree_.nodes[outer].text = operator_here(tokens);
      at_ += tokens;
      adopt(outer, id);
      id = finish(outer);
    } else if (is("{") && tree_.nodes[id].kind == CodeKind::kName && source_.at(at_ - 1) != ")") {
      id = call(id);  // T{…}
    } else {
      return id;
    }
  }
  return id;
}

uint32_t CodeReader::call(uint32_t callee) {
  const size_t open = at_;
  const uint32_t items = list();
  const std::string name = tree_.nodes[callee].text;
  const bool cast = tree_.nodes[callee].kind == CodeKind::kName &&
                    tree_.nodes[items].children.size() == 1 &&
                    (name == "static_cast" || name == "reinterpret_cast" || name == "const_cast" ||
                     (is_builtin_type(name) && source_.is(open, "(")));
  const uint32_t id = make(cast ? CodeKind::kCast : CodeKind::kCall, tree_.nodes[callee].first);
  if (cast) {
    tree_.nodes[id].text = is_builtin_type(name) ? name : tree_.nodes[callee].extra;
  } else {
    adopt(id, callee);
  }
  const std::vector<uint32_t> given = tree_.nodes[items].children;
  for (const uint32_t item : given) adopt(id, item);
  return finish(id);
}

uint32_t CodeReader::primary() {
  if (is("(")) {
    const size_t end = closing(at_);
    ++at_;
    const uint32_t id = comma_expression();
    at_ = std::min(end + 1, source_.size());
    return id;
  }
  if (is("[")) return lambda();
  if (is("{")) return list();
  if (source_.is_name(at_) || is("::")) return name();
  const uint32_t id = make(CodeKind::kUnknown, at_);
  if (at_end()) return id;
  const cpp::TokenKind kind = source_.tokens[at_].kind;
  if (kind == cpp::TokenKind::kNumber) tree_.nodes[id].kind = CodeKind::kNumber;
  if (kind == cpp::TokenKind::kString || kind == cpp::TokenKind::kCharacter)
    tree_.nodes[id].kind = CodeKind::kLiteral;
  const bool closes = is(";") || is(")") || is("]") || is("}") || is(",");
  tree_.nodes[id].text = source_.at(at_);
  if (!closes) ++at_;
  return finish(id);
}

uint32_t CodeReader::name() {
  const uint32_t id = make(CodeKind::kName, at_);
  if (is("true") || is("false") || is("nullptr") || is("this"))
    tree_.nodes[id].kind = CodeKind::kLiteral;
  take("::");
  std::string text;
  while (source_.is_name(at_)) {
    text += source_.at(at_++);
    tree_.nodes[id].extra.clear();
    if (is("<") && brackets_.closed(at_) && !ends_comparison(at_)) {
      const size_t end = brackets_.partner(at_);
      tree_.nodes[id].extra = source_.source(at_ + 1, end);
      at_ = end + 1;
    }
    if (!is("::") || !source_.is_name(at_ + 1)) break;
    text += "::";
    ++at_;
  }
  tree_.nodes[id].text = std::move(text);
  return finish(id);
}

bool CodeReader::ends_comparison(size_t open) const {
  const size_t after = brackets_.partner(open) + 1;
  return !(source_.is(after, "(") || source_.is(after, "::") || source_.is(after, "{") ||
           source_.is(after, ")") || source_.is(after, ",") || source_.is(after, ";") ||
           source_.is(after, "&&"));
}

uint32_t CodeReader::lambda() {
  const uint32_t id = make(CodeKind::kLambda, at_);
  at_ = std::min(closing(at_) + 1, source_.size());
  if (is("(")) {
    const size_t end = closing(at_);
    tree_.nodes[id].text = source_.source(at_ + 1, end);
    at_ = std::min(end + 1, source_.size());
  }
  while (!at_end() && !is("{") && !is(";") && !is(")")) ++at_;
  if (is("{")) adopt(id, block());
  return finish(id);
}

}  // namespace fathom
