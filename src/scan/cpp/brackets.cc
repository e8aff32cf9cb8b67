#include "scan/cpp/brackets.h"

#include <utility>

#include "scan/cpp/directives.h"

namespace fathom::cpp {

// The open brackets are a linked list from the innermost outwards, so that the state at an #if is
// one number to keep and to go back to.
class BracketMatcher {
 public:
  BracketMatcher(const TokenList& source, Brackets& out) : source_(source), out_(out) {}

  void run() {
    out_.partner_.assign(source_.size(), Brackets::kNone);
    out_.enclosing_.assign(source_.size(), Brackets::kNone);
    for (size_t i = 0; i < source_.size(); ++i) {
      out_.enclosing_[i] = open_ == kNone ? Brackets::kNone : brace_of(open_);
      const TokenKind kind = source_.tokens[i].kind;
      if (kind == TokenKind::kDirective) directive(i);
      if (kind == TokenKind::kPunctuator) i = punctuator(i);
    }
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  // Beyond this a chain of `<` is a chain of comparisons, and branches are not compared.
  static constexpr uint32_t kMaxAngles = 64, kMaxTwins = 64;
  static constexpr size_t kMaxOpen = 1 << 20;  // a text of nothing but brackets

  struct Open {
    uint32_t token;
    uint32_t outer;        // the next bracket outwards
    uint32_t outer_solid;  // the next one outwards that is no angle
    uint32_t brace;        // the next { outwards; itself where it is one
    uint32_t angles;       // how many angles stand inside the next solid bracket
    uint32_t twin;         // the next of its list: the same bracket in another branch of an #if
    char kind;             // ( [ { < or L for <<<
    bool is_twin = false;  // it is in the list of another bracket
  };
  struct Condition {
    uint32_t open_before;
    uint32_t open_after_first;
    bool has_first, first_is_dead;
  };

  uint32_t brace_of(uint32_t open) const {
    const uint32_t brace = opened_[open].brace;
    return brace == kNone ? Brackets::kNone : opened_[brace].token;
  }

  void push(size_t token, char kind) {
    const auto self = static_cast<uint32_t>(opened_.size());
    Open open{static_cast<uint32_t>(token), open_, open_, kNone, 0, kNone, kind};
    if (open_ != kNone) {
      const Open& outer = opened_[open_];
      if (outer.kind == '<') open.outer_solid = outer.outer_solid;
      open.brace = outer.brace;
      open.angles = kind == '<' ? outer.angles + 1 : 0;
    }
    if (kind == '{') open.brace = self;
    if (open.angles > kMaxAngles || opened_.size() > kMaxOpen) return;
    opened_.push_back(open);
    open_ = self;
  }

  void pair(uint32_t open, size_t closer) {
    const auto pair_one = [&](uint32_t token) {
      if (out_.partner_[token] == Brackets::kNone)
        out_.partner_[token] = static_cast<uint32_t>(closer);
    };
    out_.partner_[closer] = opened_[open].token;
    pair_one(opened_[open].token);
    for (uint32_t twin = std::exchange(opened_[open].twin, kNone); twin != kNone;) {
      pair_one(opened_[twin].token);
      opened_[twin].is_twin = false;
      twin = std::exchange(opened_[twin].twin, kNone);
      --twins_;
    }
    open_ = opened_[open].outer;
    // Nobody can come back to what stands inside.
    if (conditions_.empty() && twins_ == 0) opened_.resize(open);
  }

  uint32_t innermost_solid() const {
    if (open_ == kNone || opened_[open_].kind != '<') return open_;
    return opened_[open_].outer_solid;
  }

  void close(size_t token, char opener) {
    const uint32_t solid = innermost_solid();
    if (solid == kNone) return;
    if (opened_[solid].kind == opener) return pair(solid, token);
    // A brace closes what was left open inside it; any other bracket without its opener is left.
    if (opener == '{' && opened_[solid].brace != kNone) pair(opened_[solid].brace, token);
  }

  // Gives back the last token it read.
  size_t punctuator(size_t i) {
    const Token& token = source_.tokens[i];
    const char c = source_.text[token.begin];
    switch (c) {
      case '(':
      case '[':
      case '{':
        push(i, c);
        break;
      case ')':
        close(i, '(');
        break;
      case ']':
        close(i, '[');
        break;
      case '}':
        close(i, '{');
        break;
      case ';':
        open_ = innermost_solid();
        break;
      case '<':
        if (token.end - token.begin == 3) push(i, 'L');
        if (token.end - token.begin == 1 && opens_arguments(i)) push(i, '<');
        break;
      case '>':
        return closing_angle(i);
      default:
        break;
    }
    return i;
  }

  bool touches_next(size_t i, char next) const {
    return i + 1 < source_.size() && source_.tokens[i + 1].begin == source_.tokens[i].end &&
           source_.text[source_.tokens[i + 1].begin] == next;
  }

  bool opens_arguments(size_t i) const {
    return i > 0 && source_.is_name(i - 1) && source_.at(i - 1) != "operator" &&
           !touches_next(i, '<');
  }

  size_t closing_angle(size_t i) {
    // `>=` is a comparison: template arguments write `> =`.
    if (open_ == kNone || touches_next(i, '=') || (i > 0 && source_.is(i - 1, "operator")))
      return i;
    if (opened_[open_].kind == '<') {
      pair(open_, i);
    } else if (opened_[open_].kind == 'L' && source_.is(i + 1, ">") && source_.is(i + 2, ">")) {
      pair(open_, i);
      for (size_t k = i; k < i + 3; ++k) out_.enclosing_[k] = out_.enclosing_[i];
      return i + 2;
    }
    return i;
  }

  void directive(size_t i) {
    const Directive directive = read_directive(source_.at(i));
    switch (directive.kind) {
      case DirectiveKind::kIf:
        conditions_.push_back({open_, kNone, false, is_never(directive)});
        break;
      case DirectiveKind::kElse:
        if (conditions_.empty()) break;
        end_branch(conditions_.back());
        open_ = conditions_.back().open_before;
        break;
      case DirectiveKind::kEndif:
        if (conditions_.empty()) break;
        if (conditions_.back().has_first) {
          end_branch(conditions_.back());
          open_ = conditions_.back().open_after_first;
        }
        conditions_.pop_back();
        break;
      default:
        break;
    }
  }

  void end_branch(Condition& condition) {
    if (condition.has_first) return remember_twins(condition);
    if (condition.first_is_dead) {
      condition.first_is_dead = false;
      return;
    }
    condition.has_first = true;
    condition.open_after_first = open_;
  }

  // What this branch left open closes together with what the first branch left open.
  void remember_twins(const Condition& condition) {
    uint32_t first = condition.open_after_first, other = open_;
    for (uint32_t steps = 0; steps < kMaxTwins; ++steps) {
      if (first == other || first == kNone || other == kNone) return;
      if (first == condition.open_before || other == condition.open_before) return;
      // A bracket that is in a list already, as its first or its last, would make it a circle.
      if (opened_[first].kind == opened_[other].kind && opened_[other].twin == kNone &&
          !opened_[other].is_twin) {
        ++twins_;
        opened_[other].is_twin = true;
        opened_[other].twin = std::exchange(opened_[first].twin, other);
      }
      first = opened_[first].outer;
      other = opened_[other].outer;
    }
  }

  const TokenList& source_;
  Brackets& out_;
  std::vector<Open> opened_;
  std::vector<Condition> conditions_;
  uint32_t open_ = kNone;
  size_t twins_ = 0;  // links between twins; without any, closed brackets can be forgotten
};

Brackets::Brackets(const TokenList& source) { BracketMatcher(source, *this).run(); }

bool Brackets::visible(size_t i, size_t later) const {
  if (i > later) return false;
  const uint32_t block = enclosing_[i];
  return block == kNone || partner_[block] == kNone || partner_[block] > later;
}

}  // namespace fathom::cpp
