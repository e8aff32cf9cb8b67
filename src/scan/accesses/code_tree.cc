#include "scan/accesses/code_tree.h"

#include "scan/accesses/code_reader.h"

namespace fathom {

bool is_qualifier(std::string_view word) {
  constexpr std::array<std::string_view, 16> words = {
      "const",      "constexpr",  "static",       "volatile",    "unsigned", "signed",
      "extern",     "__shared__", "register",     "typename",    "inline",   "__restrict__",
      "__restrict", "restrict",   "__constant__", "thread_local"};
  return among(word, words);
}

bool is_builtin_type(std::string_view word) {
  constexpr std::array<std::string_view, 24> words = {
      "int",      "float",    "double",  "char",    "short",    "long",    "bool",     "void",
      "size_t",   "int8_t",   "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t",
      "uint64_t", "unsigned", "half",    "__half",  "float4",   "float2",  "int4",     "uint4"};
  return among(word, words);
}

void CodeReader::run() {
  tree_.nodes.emplace_back();
  at_ = 0;
  tree_.root = source_.is(0, "{") ? block() : make(CodeKind::kBlock, 0);
}

uint32_t CodeReader::block() {
  const uint32_t id = make(CodeKind::kBlock, at_);
  const size_t end = closing(at_);
  ++at_;
  while (at_ < end && !at_end()) {
    const size_t before = at_;
    adopt(id, statement());
    if (at_ == before) ++at_;
  }
  at_ = std::min(end + 1, source_.size());
  return finish(id);
}

void CodeReader::skip_statement() {
  while (!at_end() && !is(";") && !is("}")) {
    const bool opens = is("(") || is("[") || is("{");
    at_ = opens ? std::min(closing(at_) + 1, source_.size()) : at_ + 1;
  }
  take(";");
}

uint32_t CodeReader::statement() {
  while (is_directive()) ++at_;
  if (at_end() || depth_ >= kMaxDepth) return other();
  ++depth_;
  uint32_t out = 0;
  if (is("{")) {
    out = block();
  } else if (is("if")) {
    out = if_statement();
  } else if (is("for")) {
    out = for_statement();
  } else if (is("while")) {
    out = while_statement();
  } else if (is("do")) {
    out = do_statement();
  } else if (is("return")) {
    out = make(CodeKind::kReturn, at_++);
    if (!is(";")) adopt(out, expression());
    end_statement();
    finish(out);
  } else if (is("break") || is("continue")) {
    out = make(CodeKind::kJump, at_);
    tree_.nodes[out].text = source_.at(at_++);
    end_statement();
    finish(out);
  } else if (is("using") || is("typedef") || is("static_assert") || is("asm") || is("namespace")) {
    out = other();
  } else if (is("switch")) {
    out = switch_statement();
  } else if (is("case") || is("default")) {
    out = make(CodeKind::kOther, at_);
    tree_.nodes[out].text = "case";
    while (!at_end() && !is(":") && !is(";") && !is("}")) ++at_;
    take(":");
    finish(out);
  } else {
    out = declares() ? declaration() : expression_statement();
    end_statement();
    finish(out);
  }
  --depth_;
  return out;
}

uint32_t CodeReader::other() {
  const uint32_t id = make(CodeKind::kOther, at_);
  const size_t before = at_;
  skip_statement();
  if (at_ == before) ++at_;
  tree_.nodes[id].text = source_.source(before, std::min(at_, before + 400));
  return finish(id);
}

void CodeReader::end_statement() {
  if (take(";")) return;
  if (at_end() || is("}")) return;
  skip_statement();
}

uint32_t CodeReader::expression_statement() {
  const uint32_t id = make(CodeKind::kStatement, at_);
  adopt(id, comma_expression());
  return id;
}

uint32_t CodeReader::if_statement() {
  const uint32_t id = make(CodeKind::kIf, at_++);
  if (take("constexpr")) tree_.nodes[id].text = "constexpr";
  if (!is("(")) return finish(id);
  const size_t end = closing(at_);
  ++at_;
  if (declares()) {
    adopt(id, declaration());
    take(";");
    if (at_ < end) {
      const uint32_t condition = expression();
      tree_.nodes[id].children.clear();
      adopt(id, condition);
    }
  } else {
    adopt(id, expression());
  }
  at_ = std::min(end + 1, source_.size());
  adopt(id, statement());
  while (is_directive()) ++at_;
  if (take("else")) adopt(id, statement());
  return finish(id);
}

uint32_t CodeReader::for_statement() {
  const uint32_t id = make(CodeKind::kFor, at_++);
  if (!is("(")) return finish(id);
  const size_t end = closing(at_);
  ++at_;
  size_t colon = at_;
  while (colon < end && !source_.is(colon, ";") && !source_.is(colon, ":"))
    colon = source_.is(colon, "(") || source_.is(colon, "[") ? closing(colon) + 1 : colon + 1;
  if (colon < end && source_.is(colon, ":")) {
    tree_.nodes[id].kind = CodeKind::kRangeFor;
    if (colon > 0) tree_.nodes[id].text = source_.at(colon - 1);
    at_ = colon + 1;
    adopt(id, expression());
  } else {
    const uint32_t none = make(CodeKind::kOther, at_);
    adopt(id, is(";") ? none : declares() ? declaration() : expression_statement());
    at_ = std::min(at_, end);
    if (is(";")) ++at_;
    adopt(id, is(";") ? none : expression());
    take(";");
    adopt(id, at_ < end ? comma_expression() : none);
  }
  at_ = std::min(end + 1, source_.size());
  adopt(id, statement());
  return finish(id);
}

uint32_t CodeReader::while_statement() {
  const uint32_t id = make(CodeKind::kWhile, at_++);
  if (!is("(")) return finish(id);
  const size_t end = closing(at_);
  ++at_;
  adopt(id, expression());
  at_ = std::min(end + 1, source_.size());
  adopt(id, statement());
  return finish(id);
}

uint32_t CodeReader::do_statement() {
  const uint32_t id = make(CodeKind::kWhile, at_++);
  const uint32_t body = statement();
  take("while");
  const uint32_t condition = is("(") ? expression() : make(CodeKind::kUnknown, at_);
  adopt(id, condition);
  adopt(id, body);
  end_statement();
  return finish(id);
}

uint32_t CodeReader::switch_statement() {
  ++at_;
  if (is("(")) at_ = std::min(closing(at_) + 1, source_.size());
  return statement();
}

size_t CodeReader::past_type(size_t i) const {
  bool builtin = false;
  while (source_.is_name(i) &&
         (is_qualifier(source_.at(i)) || source_.is(i, "__align__") || source_.is(i, "alignas"))) {
    builtin = builtin || source_.is(i, "unsigned") || source_.is(i, "signed");
    ++i;
    if (source_.is(i, "(")) i = closing(i) + 1;
  }
  if (builtin && (!source_.is_name(i) || !is_builtin_type(source_.at(i)))) return i;
  if (!source_.is_name(i)) return 0;
  while (true) {
    ++i;
    if (source_.is(i, "<") && brackets_.closed(i)) i = brackets_.partner(i) + 1;
    if (!source_.is(i, "::") || !source_.is_name(i + 1)) break;
    ++i;
  }
  while (source_.is_name(i) && is_builtin_type(source_.at(i))) ++i;  // long long
  return i;
}

size_t CodeReader::past_stars(size_t i) const {
  while (source_.is(i, "*") || source_.is(i, "&") || source_.is(i, "&&") ||
         (source_.is_name(i) && is_qualifier(source_.at(i)))) {
    ++i;
  }
  return i;
}

bool CodeReader::declares() const {
  if (!source_.is_name(at_)) return false;
  const size_t type = past_type(at_);
  if (type == 0) return false;
  const size_t name = past_stars(type);
  if (source_.is(at_, "auto") && source_.is(name, "[")) return true;
  if (source_.is(name, "(") && source_.is(name + 1, "&") && source_.is(name + 3, ")"))
    return true;  // float (&x)[4]
  if (!source_.is_name(name) || source_.is(name, "operator")) return false;
  constexpr std::array<std::string_view, 8> after = {"=", ";", ",", "[", "(", "{", ":", ")"};
  return among(name + 1 < source_.size() ? source_.at(name + 1) : std::string_view(), after) &&
         !(source_.is(name + 1, ")"));
}

uint32_t CodeReader::declaration() {
  const uint32_t id = make(CodeKind::kDeclare, at_);
  const size_t type = past_type(at_);
  tree_.nodes[id].text = source_.source(at_, type);
  at_ = type;
  do {
    const uint32_t one = make(CodeKind::kDeclarator, at_);
    const size_t name = past_stars(at_);
    for (size_t i = at_; i < name; ++i) {
      if (source_.is(i, "*") || source_.is(i, "&")) tree_.nodes[one].extra += source_.at(i);
    }
    at_ = name;
    if (is("[") || is("(")) {  // auto [a, b] = …
      at_ = std::min(closing(at_) + 1, source_.size());
    } else if (source_.is_name(at_)) {
      tree_.nodes[one].text = source_.at(at_++);
    }
    while (is("[")) {
      const size_t end = closing(at_);
      tree_.nodes[one].extra += source_.source(at_, std::min(end + 1, source_.size()));
      at_ = std::min(end + 1, source_.size());
    }
    if (take("=")) {
      adopt(one, is("{") ? list() : expression());
    } else if (is("{") || is("(")) {
      const uint32_t items = list();
      adopt(one, tree_.nodes[items].children.size() == 1 ? tree_.nodes[items].children[0] : items);
    }
    adopt(id, finish(one));
  } while (take(","));
  return finish(id);
}

std::string CodeTree::source(const CodeNode& node) const {
  constexpr uint32_t kMaxTokens = 120;
  if (node.last - node.first <= kMaxTokens) return tokens.source(node.first, node.last);
  return tokens.source(node.first, node.first + kMaxTokens) + "… " + std::to_string(node.first);
}

CodeTree read_code(std::string text, uint32_t line) {
  CodeTree tree;
  tree.text = std::make_shared<const std::string>(std::move(text));
  tree.tokens = cpp::lex(*tree.text);
  CodeReader(tree).run();
  for (CodeNode& node : tree.nodes) node.line = node.line == 0 ? 0 : node.line + line - 1;
  return tree;
}

}  // namespace fathom
