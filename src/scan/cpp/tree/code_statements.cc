// The statements of CodeTreeReader, and how nodes are made.
#include <utility>

#include "scan/cpp/directives.h"
#include "scan/cpp/tree/code_reader.h"

namespace fathom {
namespace {

// "unroll", "unroll 4", "unroll (N)"; "unroll 1" and "nounroll" keep the loop as it is.
bool asks_to_unroll(std::string_view pragma) {
  const size_t at = pragma.find("unroll");
  if (at == std::string_view::npos || (at >= 2 && pragma.substr(at - 2, 2) == "no")) return false;
  std::string_view factor = pragma.substr(at + 6);
  const size_t begin = factor.find_first_not_of(" \t(");
  factor = begin == std::string_view::npos ? std::string_view() : factor.substr(begin);
  const size_t end = factor.find_first_of(" \t)/");
  return factor.substr(0, end) != "1";
}

// Written as macros are, and not as template parameters are.
bool is_macro_name(std::string_view name) {
  const auto small = [](char c) { return c >= 'a' && c <= 'z'; };
  return name.size() > 2 && std::none_of(name.begin(), name.end(), small);
}

// A word whose brackets say how something is laid out.
bool is_attribute(std::string_view word) {
  return word == "__attribute__" || word == "__attribute" || word == "alignas" ||
         word == "__align__";
}

}  // namespace

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

// ---- nodes

CodeTreeReader::CodeTreeReader(CodeTree& tree, size_t first, size_t last, uint32_t line)
    : tree_(tree),
      source_(*tree.tokens),
      brackets_(*tree.brackets),
      last_(std::min(last, source_.size())),
      line_(line - 1),
      at_(first) {
  const size_t tokens = last_ > first ? last_ - first : 0;
  tree_.nodes.reserve(tokens + 4);
  links_.reserve(tokens + 4);
}

uint32_t CodeTreeReader::make(CodeKind kind, size_t first) {
  CodeNode& made = tree_.nodes.emplace_back();
  made.kind = kind;
  made.first = made.last = static_cast<uint32_t>(first);
  made.line = first < source_.size() ? source_.tokens[first].line + line_ : 0;
  links_.emplace_back();
  return static_cast<uint32_t>(tree_.nodes.size() - 1);
}

void CodeTreeReader::adopt(uint32_t parent, uint32_t child) {
  CodeNode& below = node(child);
  if (below.height >= kMaxTreeHeight) {
    below.kind = below.kind < CodeKind::kBlock ? CodeKind::kUnknown : CodeKind::kOther;
    links_[child].first = links_[child].last = 0;
    below.height = 0;
  }
  Links& family = links_[parent];
  (family.first == 0 ? family.first : links_[family.last].next) = child;
  family.last = child;
  CodeNode& above = node(parent);
  above.height = std::max(above.height, static_cast<uint16_t>(below.height + 1));
}

void CodeTreeReader::take_children(uint32_t parent, uint32_t from) {
  const Links given = std::exchange(links_[from], {});
  for (uint32_t child = given.first; child != 0;) {
    const uint32_t next = std::exchange(links_[child].next, 0);
    adopt(parent, child);
    child = next;
  }
}

void CodeTreeReader::link_children() {
  std::vector<uint32_t>& all = tree_.children_;
  all.reserve(tree_.nodes.size());  // each is at most one node's child, so the list never moves
  for (uint32_t id = 0; id < tree_.nodes.size(); ++id) {
    const size_t begin = all.size();
    for (uint32_t child = links_[id].first; child != 0; child = links_[child].next)
      all.push_back(child);
    node(id).children = {all.data() + begin, static_cast<uint32_t>(all.size() - begin)};
  }
}

CodeText CodeTreeReader::kept(size_t first, size_t last) {
  last = std::min(last, source_.size());
  if (first >= last) return {};
  const uint32_t begin = source_.tokens[first].begin;
  bool plain = source_.tokens[first].kind != cpp::TokenKind::kDirective;
  for (size_t i = first + 1; i < last && plain; ++i) {
    const uint32_t before = source_.tokens[i - 1].end, gap = source_.tokens[i].begin - before;
    plain = source_.tokens[i].kind != cpp::TokenKind::kDirective &&
            (gap == 0 || (gap == 1 && source_.text[before] == ' '));
  }
  if (plain) return source_.text.substr(begin, source_.tokens[last - 1].end - begin);
  return std::string_view(tree_.texts_.emplace_front(source_.source(first, last)));
}

// ---- lists of statements, and the #ifs among them

void CodeTreeReader::run() {
  make(CodeKind::kUnknown, at_);  // number 0 stands for none
  tree_.root = make(CodeKind::kBlock, at_);
  statements(tree_.root, last_, false);
  finish(tree_.root);
  link_children();
}

void CodeTreeReader::statements(uint32_t parent, size_t end, bool of_case) {
  while (at_ < end) {
    const bool in_branch = !branches_.empty() && branches_.back().list == list_;
    if (in_branch && branches_.back().ended) return;
    if (is_directive()) {
      const cpp::DirectiveKind kind = cpp::read_directive(source_.at(at_)).kind;
      const bool ends = kind == cpp::DirectiveKind::kElse || kind == cpp::DirectiveKind::kEndif;
      if (ends && in_branch) return;
      if (kind == cpp::DirectiveKind::kIf) {
        adopt(parent, branches());
      } else {
        stray_directive();
      }
      continue;
    }
    if (of_case && (is("case") || is("default"))) return;
    const size_t before = at_;
    adopt(parent, statement());
    if (at_ == before) ++at_;
  }
}

uint32_t CodeTreeReader::block() {
  const uint32_t id = make(CodeKind::kBlock, at_);
  const size_t end = closing(at_);
  ++at_;
  const uint32_t around = std::exchange(list_, ++lists_);
  statements(id, end, false);
  list_ = around;
  at_ = std::min(end + 1, last_);
  return finish(id);
}

uint32_t CodeTreeReader::branches() {
  const uint32_t id = make(CodeKind::kBranches, at_);
  if (depth_ >= kMaxDepth) {
    ++at_;
    return finish(id);
  }
  ++depth_;
  const uint32_t around = std::exchange(list_, ++lists_);
  for (bool more = true; more;) {
    const uint32_t one = make(CodeKind::kBranch, at_++);
    branches_.push_back({list_});
    const uint32_t open = source_.tokens.empty() ? 0 : brackets_.enclosing(node(one).first);
    statements(one, open == cpp::Brackets::kNone ? last_ : closing(open), false);
    const bool ended = branches_.back().ended;
    branches_.pop_back();
    adopt(id, finish(one));
    more = !ended && is_directive() &&
           cpp::read_directive(source_.at(at_)).kind == cpp::DirectiveKind::kElse;
    if (!more && !ended && is_directive()) ++at_;  // its #endif
  }
  list_ = around;
  --depth_;
  return finish(id);
}

// One that stands in a statement, or belongs to an #if outside of the braces around.
void CodeTreeReader::stray_directive() {
  const cpp::Directive line = cpp::read_directive(source_.at(at_++));
  if (line.kind == cpp::DirectiveKind::kElse) return skip_to_endif();  // it shares a bracket
  if (line.kind == cpp::DirectiveKind::kEndif) {
    const auto open = std::find_if(branches_.rbegin(), branches_.rend(),
                                   [](const Branch& branch) { return !branch.ended; });
    if (open != branches_.rend()) open->ended = true;
  }
  if (line.word == "pragma") unroll_ = asks_to_unroll(line.rest);
}

void CodeTreeReader::skip_to_endif() {
  size_t inside = 0;
  for (; at_ < last_; ++at_) {
    if (!is_directive()) continue;
    const cpp::DirectiveKind kind = cpp::read_directive(source_.at(at_)).kind;
    if (kind == cpp::DirectiveKind::kIf) ++inside;
    if (kind == cpp::DirectiveKind::kEndif && inside-- == 0) return stray_directive();
  }
}

uint32_t CodeTreeReader::body() {
  while (is_directive()) {
    if (cpp::read_directive(source_.at(at_)).kind == cpp::DirectiveKind::kIf) return branches();
    stray_directive();
  }
  return statement();
}

// ---- single statements

void CodeTreeReader::skip_statement() {
  while (!at_end() && !is(";") && !is("}")) at_ = past(at_);
  take(";");
}

uint32_t CodeTreeReader::other() {
  const uint32_t id = make(CodeKind::kOther, at_);
  const size_t before = at_;
  skip_statement();
  if (at_ == before && !at_end()) ++at_;
  node(id).text = kept(before, std::min(at_, before + 400));
  return finish(id);
}

// Whether a new line begins here with what may begin a statement.
bool CodeTreeReader::starts_statement() const {
  if (at_end() || at_ == 0 || source_.tokens[at_].line == source_.tokens[at_ - 1].line)
    return false;
  return source_.is_name(at_) || is("{") || is_directive();
}

uint32_t CodeTreeReader::statement() {
  while (is("[") && source_.is(at_ + 1, "[") && past(at_) > at_ + 1) at_ = past(at_);
  if (at_end() || depth_ >= kMaxDepth) return other();
  ++depth_;
  const bool unrolled = std::exchange(unroll_, false);
  uint32_t out = 0;
  if (is("{")) {
    out = block();
  } else if (is(";")) {
    out = make(CodeKind::kOther, at_++);
    finish(out);
  } else if (source_.is_name(at_)) {
    out = keyword_statement(source_.at(at_));
  }
  if (out == 0) out = plain_statement();
  node(out).unrolled |= unrolled;
  --depth_;
  return out;
}

uint32_t CodeTreeReader::keyword_statement(std::string_view word) {
  switch (word[0]) {
    case 'i':
      return word == "if" ? if_statement() : 0;
    case 'f':
      return word == "for" ? for_statement() : 0;
    case 'w':
      return word == "while" ? while_statement() : 0;
    case 'd':
      if (word == "do") return do_statement();
      return word == "default" ? case_statement() : 0;
    case 'r':
    case 'c': {
      if (word == "case") return case_statement();
      if (word == "catch") return with_body(CodeKind::kCatch);
      if (word == "class") return local_class();
      if (word != "return" && word != "co_return" && word != "continue") return 0;
      const uint32_t id = make(word == "continue" ? CodeKind::kJump : CodeKind::kReturn, at_++);
      if (word == "continue") {
        node(id).text = word;
      } else if (!is(";")) {
        adopt(id, is("{") ? list() : comma_expression());
      }
      end_statement();
      return finish(id);
    }
    case 'b':
    case 'g': {
      if (word != "break" && word != "goto") return 0;
      const uint32_t id = make(CodeKind::kJump, at_++);
      node(id).text = word;
      skip_statement();
      return finish(id);
    }
    case 's':
      if (word == "switch") return switch_statement();
      if (word == "struct") return local_class();
      return word == "static_assert" ? other() : 0;
    case 't':
      if (word == "try") return with_body(CodeKind::kTry);
      return word == "typedef" ? other() : 0;
    case 'u':
      if (word == "union") return local_class();
      return word == "using" ? other() : 0;
    case 'e':
      if (word == "enum") return local_class();
      if (word != "else") return 0;
      ++at_;  // its if is in another branch of an #if
      return body();
    case 'a':
    case 'n':
      return word == "asm" || word == "namespace" ? other() : 0;
    case '_':
      return word == "__asm__" || word == "__asm" ? other() : 0;
    default:
      return 0;
  }
}

uint32_t CodeTreeReader::plain_statement() {
  const bool name = source_.is_name(at_);
  if (name && source_.is(at_ + 1, ":") && !source_.is(at_ + 2, ":")) {  // a label
    at_ += 2;
    return at_end() || is("}") || is_directive() ? other() : statement();
  }
  if (name && is_macro_name(source_.at(at_))) {
    const size_t at = at_++;
    const bool loop = is("for") || is("while") || is("do");
    const bool alone = loop || at_end() || is(";") || is("}") || starts_statement();
    if (alone && source_.at(at).find("UNROLL") != std::string_view::npos) {
      take(";");
      unroll_ = true;
      return at_end() || is("}") || is_directive() ? make(CodeKind::kOther, at) : statement();
    }
    at_ = at;
    if (alone && !loop && !source_.is(at + 1, ";") && at + 1 < last_) {
      const uint32_t id = make(CodeKind::kStatement, at_);
      adopt(id, this->name());
      return finish(id);
    }
  }
  const uint32_t id = declares() ? declaration() : expression_statement();
  end_statement();
  return finish(id);
}

void CodeTreeReader::end_statement() {
  if (take(";")) return;
  if (at_end() || is("}")) return;
  // A macro's use needs no semicolon.
  if (starts_statement() && (source_.is(at_ - 1, ")") || source_.is(at_ - 1, "}"))) return;
  skip_statement();
}

uint32_t CodeTreeReader::expression_statement() {
  const uint32_t id = make(CodeKind::kStatement, at_);
  adopt(id, comma_expression());
  while (is("{") && source_.is(at_ - 1, ")")) adopt(id, block());  // the block of a macro
  return id;
}

uint32_t CodeTreeReader::condition(size_t end) {
  ++at_;
  uint32_t id = declares() ? declaration() : comma_expression();
  if (take(";") && at_ < end) id = declares() ? declaration() : comma_expression();
  at_ = std::min(end + 1, last_);
  return id;
}

uint32_t CodeTreeReader::if_statement() {
  const uint32_t id = make(CodeKind::kIf, at_++);
  while (source_.is_name(at_) && !at_end()) {  // constexpr, consteval, a macro
    if (is("constexpr")) node(id).text = "constexpr";
    ++at_;
  }
  if (!is("(")) return finish(id);
  adopt(id, condition(closing(at_)));
  adopt(id, body());
  // An else may stand behind the #endif of its if, or in an #if of its own.
  size_t next = at_;
  while (next < last_ && source_.tokens[next].kind == cpp::TokenKind::kDirective) ++next;
  if (next >= last_ || !source_.is(next, "else")) return finish(id);
  uint32_t open = 0;  // the #if right before the else
  while (at_ < next) {
    const bool begins =
        at_ + 1 == next && cpp::read_directive(source_.at(at_)).kind == cpp::DirectiveKind::kIf;
    if (begins) open = make(CodeKind::kBranch, at_++);
    if (!begins) stray_directive();
  }
  if (!take("else")) return finish(id);
  adopt(id, open == 0 ? body() : else_in_branch(open));
  return finish(id);
}

// if (a) … #if X else … #endif: the else is there always, and what it holds only if X.
uint32_t CodeTreeReader::else_in_branch(uint32_t branch) {
  const uint32_t id = make(CodeKind::kBranches, node(branch).first);
  branches_.push_back({++lists_});
  adopt(branch, body());
  const bool ended = branches_.back().ended;
  branches_.pop_back();
  adopt(id, finish(branch));
  if (!ended && is_directive()) stray_directive();
  return finish(id);
}

uint32_t CodeTreeReader::for_statement() {
  const uint32_t id = make(CodeKind::kFor, at_++);
  if (!is("(")) return finish(id);
  const size_t end = closing(at_);
  ++at_;
  size_t colon = at_;
  while (colon < end && !source_.is(colon, ";") && !source_.is(colon, ":"))
    colon = source_.is(colon, "(") || source_.is(colon, "[") ? closing(colon) + 1 : colon + 1;
  if (colon < end && source_.is(colon, ":")) {
    node(id).kind = CodeKind::kRangeFor;
    if (colon > 0) node(id).text = source_.at(colon - 1);
    at_ = colon + 1;
    adopt(id, is("{") ? list() : expression());
  } else {
    const auto none = [&] { return make(CodeKind::kOther, at_); };
    adopt(id, is(";") ? none() : declares() ? declaration() : expression_statement());
    finish(links_[id].first);
    at_ = std::min(at_, end);
    if (is(";")) ++at_;
    adopt(id, is(";") || at_ >= end ? none() : expression());
    take(";");
    adopt(id, at_ < end ? comma_expression() : none());
  }
  at_ = std::min(end + 1, last_);
  adopt(id, body());
  return finish(id);
}

uint32_t CodeTreeReader::while_statement() {
  const uint32_t id = make(CodeKind::kWhile, at_++);
  if (!is("(")) return finish(id);
  adopt(id, condition(closing(at_)));
  adopt(id, body());
  return finish(id);
}

uint32_t CodeTreeReader::do_statement() {
  const uint32_t id = make(CodeKind::kWhile, at_++);
  node(id).text = "do";
  const uint32_t inside = body();
  uint32_t until = 0;
  if (take("while") && is("(")) until = condition(closing(at_));
  adopt(id, until != 0 ? until : make(CodeKind::kUnknown, at_));
  adopt(id, inside);
  end_statement();
  return finish(id);
}

uint32_t CodeTreeReader::switch_statement() {
  const uint32_t id = make(CodeKind::kSwitch, at_++);
  if (!is("(")) return finish(id);
  adopt(id, condition(closing(at_)));
  adopt(id, body());
  return finish(id);
}

uint32_t CodeTreeReader::case_statement() {
  size_t colon = at_ + 1;
  while (colon < last_ && !source_.is(colon, ":") && !source_.is(colon, ";") &&
         !source_.is(colon, "{") && !source_.is(colon, "}")) {
    colon = past(colon);
  }
  if (colon >= last_ || !source_.is(colon, ":")) return 0;
  const uint32_t id = make(CodeKind::kCase, at_);
  at_ = colon + 1;
  const uint32_t open = brackets_.enclosing(node(id).first);
  statements(id, open == cpp::Brackets::kNone ? last_ : closing(open), true);
  return finish(id);
}

uint32_t CodeTreeReader::with_body(CodeKind kind) {
  const uint32_t id = make(kind, at_++);
  if (is("(")) at_ = past(at_);
  adopt(id, body());
  return finish(id);
}

// struct X { … } x; is a definition, `struct X x = …` a declaration.
uint32_t CodeTreeReader::local_class() {
  size_t brace = at_ + 1;
  while (brace < last_ &&
         (source_.is_name(brace) || source_.is(brace, "::") || source_.is(brace, ":") ||
          source_.is(brace, ",") || source_.is(brace, "<"))) {
    brace = source_.is(brace, "<") ? past(brace) : brace + 1;
  }
  if (brace >= last_ || !source_.is(brace, "{")) {
    ++at_;
    return plain_statement();
  }
  const uint32_t id = make(CodeKind::kClass, at_);
  skip_statement();
  return finish(id);
}

// ---- declarations

size_t CodeTreeReader::past_type(size_t i) const {
  bool builtin = false;
  const auto qualifies = [&] {
    return is_qualifier(source_.at(i)) || is_attribute(source_.at(i)) ||
           // A macro for one of these, where one follows.
           (source_.is_name(i + 1) && is_qualifier(source_.at(i + 1)) &&
            is_macro_name(source_.at(i)));
  };
  while (source_.is_name(i) && qualifies()) {
    builtin = builtin || source_.is(i, "unsigned") || source_.is(i, "signed");
    ++i;
    if (source_.is(i, "(")) i = closing(i) + 1;
  }
  if (builtin && (!source_.is_name(i) || !is_builtin_type(source_.at(i)))) return i;
  if (!source_.is_name(i)) return 0;
  if (source_.is(i, "decltype") && source_.is(i + 1, "(")) i = closing(i + 1);
  if (source_.is(i, "struct") || source_.is(i, "union") || source_.is(i, "class") ||
      source_.is(i, "enum")) {
    if (source_.is_name(i + 1)) ++i;
    if (source_.is(i + 1, "{")) return closing(i + 1) + 1;
  }
  while (true) {
    ++i;
    if (source_.is(i, "<") && brackets_.closed(i)) i = brackets_.partner(i) + 1;
    if (!source_.is(i, "::") || !source_.is_name(i + 1)) break;
    ++i;
    if (source_.is(i, "template") && source_.is_name(i + 1)) ++i;
  }
  while (source_.is_name(i) && is_builtin_type(source_.at(i))) ++i;  // long long
  return i;
}

size_t CodeTreeReader::past_stars(size_t i) const {
  while (source_.is(i, "*") || source_.is(i, "&") || source_.is(i, "&&") ||
         (source_.is_name(i) && (is_qualifier(source_.at(i)) || is_attribute(source_.at(i))))) {
    ++i;
    if (source_.is(i, "(") && is_attribute(source_.at(i - 1))) i = closing(i) + 1;
  }
  return i;
}

// void (*name)(int)
bool CodeTreeReader::names_function_pointer(size_t i) const {
  return source_.is(i, "(") && source_.is(i + 1, "*") && source_.is_name(i + 2) &&
         source_.is(i + 3, ")") && source_.is(i + 4, "(");
}

bool CodeTreeReader::declares() const {
  if (!source_.is_name(at_)) return false;
  const size_t type = past_type(at_);
  if (type == 0) return false;
  const size_t name = past_stars(type);
  if (source_.is(at_, "auto") && source_.is(name, "[")) return true;
  if (source_.is(name, "(") && source_.is(name + 1, "&") && source_.is(name + 3, ")"))
    return true;  // float (&x)[4]
  if (names_function_pointer(name)) {
    const size_t after = closing(name + 4) + 1;
    return after < last_ && (source_.is(after, "=") || source_.is(after, ";"));
  }
  if (!source_.is_name(name) || source_.is(name, "operator")) return false;
  constexpr std::array<std::string_view, 7> after = {"=", ";", ",", "[", "(", "{", ":"};
  if (name + 1 >= source_.size() || !among(source_.at(name + 1), after)) return false;
  constexpr std::array<std::string_view, 8> no_types = {"delete",   "new",      "throw",  "goto",
                                                        "co_await", "co_yield", "sizeof", "return"};
  return !among(source_.at(at_), no_types);
}

uint32_t CodeTreeReader::declaration() {
  const uint32_t id = make(CodeKind::kDeclare, at_);
  const size_t type = past_type(at_);
  node(id).text = kept(at_, type);
  at_ = type;
  do {
    adopt(id, declarator());
  } while (take(","));
  return finish(id);
}

uint32_t CodeTreeReader::declarator() {
  const uint32_t id = make(CodeKind::kDeclarator, at_);
  const size_t name = past_stars(at_);
  std::string extra;
  for (size_t i = at_; i < name; ++i) {
    if (source_.is(i, "*") || source_.is(i, "&")) extra += source_.at(i);
  }
  at_ = name;
  if (names_function_pointer(at_)) {
    node(id).text = source_.at(at_ + 2);
    at_ = std::min(closing(at_ + 4) + 1, last_);
  } else if (is("[") || is("(")) {  // auto [a, b] = …
    at_ = past(at_);
  } else if (source_.is_name(at_)) {
    node(id).text = source_.at(at_++);
  }
  while (is("[")) {
    const size_t end = closing(at_);
    extra += source_.source(at_, std::min(end + 1, last_));
    at_ = std::min(end + 1, last_);
  }
  if (extra == "*" || extra == "&") {
    node(id).extra = extra == "*" ? "*" : "&";
  } else if (!extra.empty()) {
    node(id).extra = std::string_view(tree_.texts_.emplace_front(std::move(extra)));
  }
  if (take("=")) {
    adopt(id, is("{") ? list() : expression());
  } else if (is("{") || is("(")) {
    const uint32_t items = list();
    const bool one = links_[items].first != 0 && links_[items].first == links_[items].last;
    if (one) {
      take_children(id, items);
    } else {
      adopt(id, items);
    }
  }
  return finish(id);
}

// ---- trees

std::string CodeTree::source(const CodeNode& node) const {
  constexpr uint32_t kMaxTokens = 120;
  uint32_t first = node.first, last = node.last;
  // Brackets around all of it say nothing.
  while (first + 2 < last && tokens->is(first, "(") && brackets->partner(first) == last - 1) {
    ++first;
    --last;
  }
  if (last - first <= kMaxTokens) return tokens->source(first, last);
  return tokens->source(first, first + kMaxTokens) + "… " + std::to_string(first);
}

size_t CodeTree::bytes() const {
  if (own) return own->text.size();
  if (nodes.empty()) return 0;
  const CodeNode& all = nodes[root];
  return all.last > all.first ? tokens->tokens[all.last - 1].end - tokens->tokens[all.first].begin
                              : 0;
}

CodeTree read_statements(const cpp::Code& code, size_t first, size_t last) {
  CodeTree tree;
  tree.tokens = &code.source;
  tree.brackets = &code.brackets;
  CodeTreeReader(tree, first, last, 1).run();
  return tree;
}

CodeTree read_code(std::string text, uint32_t line) {
  CodeTree tree;
  tree.own = std::make_shared<const CodeTree::Source>(std::move(text));
  tree.tokens = &tree.own->list;
  tree.brackets = &tree.own->pairs;
  const bool braced = tree.tokens->is(0, "{");
  const size_t close = braced && tree.brackets->closed(0) ? tree.brackets->partner(0) : SIZE_MAX;
  CodeTreeReader(tree, braced ? 1 : 0, braced ? close : 0, line).run();
  return tree;
}

}  // namespace fathom
