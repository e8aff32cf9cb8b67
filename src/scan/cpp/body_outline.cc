#include "scan/cpp/body_outline.h"

#include <algorithm>
#include <string_view>

#include "scan/cpp/directives.h"
#include "scan/cpp/statement_tokens.h"

namespace fathom::cpp {
namespace {

// A statement's text beyond this is a table; its first tokens say what it is.
constexpr size_t kMaxTextTokens = 300;

// Reads statement after statement. What a statement contains is a frame on a stack of its own, so
// that code nested without end cannot exhaust the program's.
class BodyReader : StatementTokens {
 public:
  BodyReader(const Code& code, size_t open, size_t close)
      : StatementTokens(code, close), at_(open + 1) {}

  std::vector<Statement> run() {
    while (at_ < last_) {
      const size_t before = at_;
      if (!closes_frame()) statement();
      if (at_ == before) ++at_;  // a token that fits nowhere
    }
    const uint32_t line = last_ > 0 ? line_of(last_ - 1) : 0;
    for (const Frame& frame : frames_) set_end(frame.owner, line);
    return std::move(out_);
  }

 private:
  enum class Holds : uint8_t {
    kBlock,      // up to its }
    kStatement,  // one statement without braces
    kCode,       // a lambda's body, after which the statement goes on
    kCase,       // up to the next case or the } around
    kBranch,     // of an #if, up to its #endif
  };
  struct Frame {
    Holds holds;
    size_t owner = kNone;  // in out_; none: a block without a header
    size_t end = 0;        // its }, of kBlock and kCode
    size_t statement_end = 0;
    uint32_t depth = 0;  // of what stands inside
    bool ended = false;  // the #endif of a branch came before a brace that it opened was closed
  };

  uint32_t depth() const { return frames_.empty() ? 0 : frames_.back().depth; }
  void set_end(size_t owner, uint32_t line) {
    if (owner != kNone) out_[owner].line_last = std::max(out_[owner].line_last, line);
  }

  // "unroll", "unroll 4", "unroll (N)"; "unroll 1" and "nounroll" keep the loop as it is.
  static bool asks_to_unroll(std::string_view pragma) {
    const size_t at = pragma.find("unroll");
    if (at == std::string_view::npos || (at >= 2 && pragma.substr(at - 2, 2) == "no")) return false;
    std::string_view factor = pragma.substr(at + 6);
    const size_t begin = factor.find_first_not_of(" \t(");
    factor = begin == std::string_view::npos ? std::string_view() : factor.substr(begin);
    const size_t end = factor.find_first_of(" \t)/");
    return factor.substr(0, end) != "1";
  }

  size_t add(StatementKind kind, size_t first, size_t last) {
    Statement statement;
    statement.kind = kind;
    statement.depth = depth();
    statement.line_first = line_of(first);
    statement.line_last = line_of(std::max(first, std::max<size_t>(last, 1) - 1));
    statement.first = static_cast<uint32_t>(first);
    statement.last = static_cast<uint32_t>(last);
    const size_t end = std::min(last, first + kMaxTextTokens);
    statement.text = source_.source(first, end) + (end < last ? " …" : "");
    statement.unrolled = unroll_;
    unroll_ = false;
    out_.push_back(std::move(statement));
    return out_.size() - 1;
  }

  // A } that ends frames, or an unbalanced one that is passed over.
  bool closes_frame() {
    if (!is(at_, "}")) return false;
    size_t frame = frames_.size();
    while (frame > 0 && !ends_with_brace(frames_[frame - 1])) --frame;
    if (frame == 0) {
      ++at_;
      return true;
    }
    while (frames_.size() > frame) pop(line_of(at_));
    const Frame closed = frames_.back();
    pop(line_of(at_));
    ++at_;
    if (closed.holds == Holds::kCode) {
      go_on_behind_code(closed.owner, closed.statement_end);
    } else if (closed.owner == kNone || has_ended(closed.owner)) {
      finish();
    }
    while (in_branch() && frames_.back().ended) pop(line_of(at_ - 1));
    return true;
  }

  static bool ends_with_brace(const Frame& frame) {
    return frame.holds == Holds::kBlock || frame.holds == Holds::kCode;
  }

  void pop(uint32_t line) {
    set_end(frames_.back().owner, line);
    frames_.pop_back();
  }

  // A statement ended before at_: it may be all that an `if` without braces holds.
  void finish() {
    while (!frames_.empty() && frames_.back().holds == Holds::kStatement) {
      const size_t owner = frames_.back().owner;
      pop(line_of(at_ - 1));
      if (!has_ended(owner)) return;
    }
  }

  // After the body of a compound statement: false where an else goes on with it.
  bool has_ended(size_t owner) {
    const StatementKind kind = out_[owner].kind;
    const bool chooses = kind == StatementKind::kIf || kind == StatementKind::kElseIf;
    if (chooses && is(at_, "else")) {
      begin_else();
      return false;
    }
    if (out_[owner].text == "do" && is(at_, "while")) {
      const size_t open = at_ + 1, end = is(open, "(") ? past(open) : open;
      out_[owner].text = "do … " + source_.source(at_, end);
      at_ = is(end, ";") ? end + 1 : end;
      set_end(owner, line_of(at_ - 1));
    }
    return true;
  }

  void begin_else() {
    const size_t first = at_++;
    if (is(at_, "if")) return header(StatementKind::kElseIf, first);
    begin_body(add(StatementKind::kElse, first, at_));
  }

  // What belongs to the statement begins at at_.
  void begin_body(size_t owner) {
    const uint32_t inside = out_[owner].depth + 1;
    if (is(at_, ";")) {
      ++at_;
      if (has_ended(owner)) finish();
    } else if (is(at_, "{")) {
      const size_t end = code_.brackets.closed(at_) ? code_.brackets.partner(at_) : last_;
      frames_.push_back({Holds::kBlock, owner, end, 0, inside});
      ++at_;
    } else {
      frames_.push_back({Holds::kStatement, owner, 0, 0, inside});
    }
  }

  // `if constexpr (…)`, `for (…)`: up to the bracket that closes it.
  void header(StatementKind kind, size_t first) {
    bool compile_time = false;
    while (at_ < last_ && source_.is_name(at_)) {
      compile_time |= is(at_, "constexpr") || is(at_, "consteval");
      ++at_;
    }
    if (is(at_, "(")) at_ = past(at_);
    const size_t owner = add(kind, first, at_);
    out_[owner].compile_time = compile_time;
    skip_attributes();
    begin_body(owner);
  }

  void skip_attributes() {
    while (is(at_, "[") && is(at_ + 1, "[") && past(at_) > at_ + 1) at_ = past(at_);
  }

  void statement() {
    if (source_.tokens[at_].kind == TokenKind::kDirective) return directive();
    skip_attributes();
    if (at_ >= last_) return;
    const std::string_view first = word(at_);
    if (first == ";") {
      ++at_;
      finish();
    } else if (first == "{") {
      const size_t end = code_.brackets.closed(at_) ? code_.brackets.partner(at_) : last_;
      frames_.push_back({Holds::kBlock, kNone, end, 0, depth()});
      ++at_;
    } else if (!source_.is_name(at_) || !keyword(first)) {
      plain();
    }
  }

  bool keyword(std::string_view first) {
    if (first == "if") {
      header(StatementKind::kIf, at_);
    } else if (first == "for" || first == "while") {
      header(StatementKind::kLoop, at_);
    } else if (first == "switch") {
      header(StatementKind::kSwitch, at_);
    } else if (first == "catch") {
      header(StatementKind::kCatch, at_);
    } else if (first == "do" || first == "try") {
      const size_t at = at_++;
      begin_body(add(first == "do" ? StatementKind::kLoop : StatementKind::kTry, at, at_));
    } else if (first == "case" || first == "default") {
      return branch_of_switch();
    } else if (first == "else") {
      ++at_;  // its if is in another branch of an #if
    } else if (is(at_ + 1, ":") && !is(at_ + 2, ":")) {
      at_ += 2;  // a label
    } else {
      return false;
    }
    return true;
  }

  bool branch_of_switch() {
    size_t colon = at_ + 1;
    while (colon < last_ && !is(colon, ":") && !is(colon, ";") && !is(colon, "{")) {
      colon = past(colon);
    }
    if (!is(colon, ":")) return false;
    if (!frames_.empty() && frames_.back().holds == Holds::kCase) pop(line_of(at_ - 1));
    const size_t owner = add(StatementKind::kCase, at_, colon);
    frames_.push_back({Holds::kCase, owner, 0, 0, out_[owner].depth + 1});
    at_ = colon + 1;
    return true;
  }

  // ---- statements that end with a semicolon

  static StatementKind kind_of(std::string_view first) {
    if (is_one_of(first, {"return", "co_return"})) return StatementKind::kReturn;
    if (is_one_of(first, {"break", "continue", "goto"})) return StatementKind::kJump;
    if (first == "throw") return StatementKind::kThrow;
    if (first == "static_assert") return StatementKind::kCheck;
    if (is_one_of(first, {"using", "typedef", "namespace"})) return StatementKind::kAlias;
    return StatementKind::kPlain;
  }

  void plain() {
    const size_t first = at_;
    const bool local_class = is_one_of(word(first), {"struct", "class", "enum", "union"});
    const size_t end = statement_end(first);
    at_ = is(end, ";") ? end + 1 : end;
    if (end == first) return;
    if (is_unroll_macro(first, end)) {
      unroll_ = true;
      return;
    }
    const size_t body = local_class ? kNone : next_code(first, end);
    StatementKind kind = kind_of(word(first));
    if (local_class && holds_brace(first, end)) kind = StatementKind::kDefinition;
    if (body == kNone) {
      add(kind, first, end);
      return finish();
    }
    const size_t owner =
        add(is_named_lambda(first, body) ? StatementKind::kDefinition : StatementKind::kGivesCode,
            first, body);
    out_[owner].text += " …";
    open_code(owner, body, end);
  }

  void open_code(size_t owner, size_t open, size_t statement_end) {
    frames_.push_back(
        {Holds::kCode, owner, code_.brackets.partner(open), statement_end, out_[owner].depth + 1});
    at_ = open + 1;
  }

  void go_on_behind_code(size_t owner, size_t statement_end) {
    const size_t end = std::max(statement_end, at_);
    if (const size_t more = next_code(at_, end); more != kNone) {
      return open_code(owner, more, statement_end);
    }
    at_ = is(end, ";") ? end + 1 : end;
    set_end(owner, line_of(at_ - 1));
    finish();
  }

  // ---- preprocessor lines

  void directive() {
    const size_t at = at_++;
    const Directive line = read_directive(source_.at(at));
    switch (line.kind) {
      case DirectiveKind::kIf:
        begin_branch(at);
        break;
      case DirectiveKind::kElse:
        other_branch(at);
        break;
      case DirectiveKind::kEndif:
        in_branch() ? end_branch(at) : end_branch_below();
        break;
      default:
        if (line.word == "pragma") unroll_ = asks_to_unroll(line.rest);
    }
  }

  bool in_branch() const { return !frames_.empty() && frames_.back().holds == Holds::kBranch; }

  void begin_branch(size_t at) {
    const size_t owner = add(StatementKind::kDirective, at, at);
    const Directive line = read_directive(source_.at(at));
    out_[owner].text = "#" + std::string(line.word);
    if (!line.rest.empty()) out_[owner].text += " " + std::string(line.rest);
    frames_.push_back({Holds::kBranch, owner, 0, 0, out_[owner].depth + 1});
  }

  void other_branch(size_t at) {
    if (!in_branch()) return skip_to_endif();  // it shares a bracket with the first branch
    pop(line_of(at));
    begin_branch(at);
  }

  void skip_to_endif() {
    size_t inside = 0;
    for (; at_ < last_; ++at_) {
      if (source_.tokens[at_].kind != TokenKind::kDirective) continue;
      const DirectiveKind kind = read_directive(source_.at(at_)).kind;
      if (kind == DirectiveKind::kIf) ++inside;
      if (kind != DirectiveKind::kEndif) continue;
      if (inside-- == 0) {
        ++at_;
        return end_branch_below();
      }
    }
  }

  void end_branch_below() {
    const auto branch = std::find_if(frames_.rbegin(), frames_.rend(), [](const Frame& frame) {
      return frame.holds == Holds::kBranch && !frame.ended;
    });
    if (branch != frames_.rend()) branch->ended = true;
  }

  void end_branch(size_t at) {
    const bool empty = frames_.back().owner + 1 == out_.size();
    pop(line_of(at));
    if (!empty) finish();
  }

  size_t at_;
  bool unroll_ = false;  // asked for by the line before
  std::vector<Frame> frames_;
  std::vector<Statement> out_;
};

}  // namespace

std::vector<Statement> outline_body(const Code& code, size_t open, size_t close) {
  return BodyReader(code, open, close).run();
}

}  // namespace fathom::cpp
