// The statements of CodeTreeReader; declarations stand in code_declarations.cc.
#include <utility>

#include "base/text_parts.h"
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

}  // namespace

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
    if (alone && holds(source_.at(at), "UNROLL")) {
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
         (source_.is_name(brace) || source_.is_any(brace, {"::", ":", ",", "<"}))) {
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

}  // namespace fathom
