#include "scan/cpp/body_outline.h"

#include <algorithm>
#include <string_view>

#include "scan/cpp/directives.h"

namespace fathom::cpp {
namespace {

// A statement's text beyond this is a table; its first tokens say what it is.
constexpr size_t kMaxTextTokens = 300;

StatementKind kind_of_word(std::string_view first) {
  if (first == "return" || first == "co_return") return StatementKind::kReturn;
  if (first == "break" || first == "continue" || first == "goto") return StatementKind::kJump;
  if (first == "throw") return StatementKind::kThrow;
  if (first == "static_assert") return StatementKind::kCheck;
  if (first == "using" || first == "typedef" || first == "namespace") return StatementKind::kAlias;
  return StatementKind::kPlain;
}

class BodyOutline {
 public:
  explicit BodyOutline(const CodeTree& tree)
      : tree_(tree), source_(*tree.tokens), code_(tree.code()) {}

  std::vector<Statement> run() {
    statements(tree_.root, 0);
    return std::move(out_);
  }

 private:
  const CodeNode& node(uint32_t id) const { return tree_[id]; }
  uint32_t line_of(size_t token) const {
    return source_.tokens[std::min(token, source_.size() - 1)].line;
  }
  // Of its last token.
  uint32_t end_line(const CodeNode& at) const { return line_of(std::max(at.last, 1u) - 1); }
  // Of what ends it where that is a brace or a directive, which belong to it for a reader.
  uint32_t closing_line(const CodeNode& at) const {
    const bool closed =
        at.last < source_.size() &&
        (source_.is(at.last, "}") || source_.tokens[at.last].kind == TokenKind::kDirective);
    return closed ? line_of(at.last) : end_line(at);
  }

  Statement& add(StatementKind kind, const CodeNode& at, size_t first, size_t last,
                 uint32_t depth) {
    Statement& statement = out_.emplace_back();
    statement.kind = kind;
    statement.depth = depth;
    statement.line_first = line_of(first);
    statement.line_last = line_of(std::max(first, std::max<size_t>(last, 1) - 1));
    statement.first = static_cast<uint32_t>(first);
    statement.last = static_cast<uint32_t>(last);
    const size_t end = std::min(last, first + kMaxTextTokens);
    statement.text = source_.source(first, end) + (end < last ? " …" : "");
    statement.unrolled = at.unrolled;
    return statement;
  }

  void statements(uint32_t id, uint32_t depth) {
    for (const uint32_t child : node(id).children) statement(child, depth);
  }

  // What belongs to a statement: braces around it say nothing.
  void body(uint32_t id, uint32_t depth) {
    node(id).kind == CodeKind::kBlock ? statements(id, depth) : statement(id, depth);
  }

  void statement(uint32_t id, uint32_t depth) {
    const CodeNode& at = node(id);
    switch (at.kind) {
      case CodeKind::kBlock:
        return statements(id, depth);
      case CodeKind::kBranches:
        for (const uint32_t branch : at.children) directive(branch, depth);
        return;
      case CodeKind::kIf:
        return if_statement(id, depth);
      case CodeKind::kFor:
      case CodeKind::kRangeFor:
        return with_header(StatementKind::kLoop, id, depth);
      case CodeKind::kWhile:
        return at.text == "do" ? do_statement(id, depth)
                               : with_header(StatementKind::kLoop, id, depth);
      case CodeKind::kSwitch:
        return with_header(StatementKind::kSwitch, id, depth);
      case CodeKind::kCatch:
        return with_header(StatementKind::kCatch, id, depth);
      case CodeKind::kTry:
        add(StatementKind::kTry, at, at.first, at.first + 1, depth).line_last = end_line(at);
        return at.children.empty() ? void() : body(at.children[0], depth + 1);
      case CodeKind::kCase:
        return label(id, depth);
      case CodeKind::kClass:
        add(StatementKind::kDefinition, at, at.first, text_end(at), depth);
        return;
      default:
        return plain(id, depth);
    }
  }

  // `if constexpr (…)`, `for (…)`: up to the bracket that closes it.
  Statement& header(StatementKind kind, const CodeNode& at, size_t first, size_t word,
                    uint32_t depth) {
    size_t end = word + 1;
    while (source_.is_name(end) && end < at.last) ++end;
    if (source_.is(end, "(")) end = std::min<size_t>(code_.past(end), at.last);
    Statement& made = add(kind, at, first, end, depth);
    for (size_t i = word + 1; source_.is_name(i) && i < end; ++i)
      made.compile_time |= source_.is(i, "constexpr") || source_.is(i, "consteval");
    return made;
  }

  void with_header(StatementKind kind, uint32_t id, uint32_t depth) {
    const CodeNode& at = node(id);
    header(kind, at, at.first, at.first, depth).line_last = end_line(at);
    if (at.children.size() > 1 || kind == StatementKind::kCatch)
      body(at.children.back(), depth + 1);
  }

  void if_statement(uint32_t id, uint32_t depth) {
    StatementKind kind = StatementKind::kIf;
    size_t first = node(id).first;
    while (true) {
      const CodeNode& at = node(id);
      Statement& made = header(kind, at, first, at.first, depth);
      if (at.children.size() < 2) return;
      made.line_last = end_line(node(at.children[1]));
      body(at.children[1], depth + 1);
      if (at.children.size() < 3) return;
      id = at.children[2];
      first = node(at.children[1]).last;
      while (first + 1 < at.last && !source_.is(first, "else")) ++first;
      if (node(id).kind != CodeKind::kIf || !source_.is(first + 1, "if")) break;
      kind = StatementKind::kElseIf;
    }
    add(StatementKind::kElse, node(id), first, first + 1, depth).line_last = end_line(node(id));
    body(id, depth + 1);
  }

  void do_statement(uint32_t id, uint32_t depth) {
    const CodeNode& at = node(id);
    Statement& made = add(StatementKind::kLoop, at, at.first, at.first + 1, depth);
    made.line_last = end_line(at);
    if (at.children.size() < 2) return;
    const size_t until = node(at.children[1]).last;
    if (source_.is(until, "while"))
      made.text = "do … " + source_.source(until, std::min<size_t>(code_.past(until + 1), at.last));
    body(at.children[1], depth + 1);
  }

  void label(uint32_t id, uint32_t depth) {
    const CodeNode& at = node(id);
    size_t colon = at.first + 1;
    while (colon < at.last && !source_.is(colon, ":")) colon = code_.past(colon);
    Statement& made = add(StatementKind::kCase, at, at.first, colon, depth);
    made.line_last = closing_line(at);
    statements(id, depth + 1);
  }

  void directive(uint32_t id, uint32_t depth) {
    const CodeNode& at = node(id);
    Statement& made = add(StatementKind::kDirective, at, at.first, at.first, depth);
    const Directive line = read_directive(source_.at(at.first));
    made.text = "#" + std::string(line.word);
    if (!line.rest.empty()) made.text += " " + std::string(line.rest);
    made.line_last = closing_line(at);
    statements(id, depth + 1);
  }

  // Without the semicolon that ends it.
  size_t text_end(const CodeNode& at) const {
    return at.last > at.first && source_.is(at.last - 1, ";") ? at.last - 1 : at.last;
  }

  // The blocks that stand in an expression: bodies of lambdas, arguments of macros.
  void find_code(uint32_t id, std::vector<uint32_t>& out) const {
    for (const uint32_t child : node(id).children) {
      if (node(child).kind != CodeKind::kBlock) {
        find_code(child, out);
      } else if (!node(child).children.empty()) {
        out.push_back(child);
      }
    }
  }

  // `auto f = [&](int n) {`, `owner = {pointer, [](int* p) {`: the code is run later.
  bool is_kept_for_later(const CodeNode& at) const {
    if (at.children.empty()) return false;
    const CodeNode& first = node(at.children[0]);
    if (first.children.empty()) return false;
    const bool given =
        at.kind == CodeKind::kDeclare || (first.kind == CodeKind::kAssign && first.text == "=");
    const CodeKind value = node(first.children.back()).kind;
    return given && (value == CodeKind::kLambda || value == CodeKind::kList);
  }

  void plain(uint32_t id, uint32_t depth) {
    const CodeNode& at = node(id);
    const size_t end = text_end(at);
    if (end <= at.first) return;
    std::vector<uint32_t> given;
    find_code(id, given);
    if (given.empty()) {
      add(kind_of_word(source_.at(at.first)), at, at.first, end, depth);
      return;
    }
    Statement& made =
        add(is_kept_for_later(at) ? StatementKind::kDefinition : StatementKind::kGivesCode, at,
            at.first, node(given[0]).first, depth);
    made.text += " …";
    made.line_last = end_line(at);
    for (const uint32_t code : given) statements(code, depth + 1);
  }

  const CodeTree& tree_;
  const TokenList& source_;
  const Code code_;
  std::vector<Statement> out_;
};

}  // namespace

std::vector<Statement> outline_body(const CodeTree& tree) { return BodyOutline(tree).run(); }

}  // namespace fathom::cpp
