#include <algorithm>

#include "scan/features/signal_search.h"

namespace fathom {
namespace {

class CppTokens {
 public:
  explicit CppTokens(const cpp::TokenList& list) : list_(list) {}

  std::string_view text(size_t i) const { return list_.at(i); }
  uint32_t line(size_t i) const { return list_.tokens[i].line; }

  // `int copy(…)` declares what `x = copy(…)` calls.
  bool is_called(size_t i) const {
    if (i > 0 && list_.is_name(i - 1) && may_end_type(i - 1)) return false;
    if (list_.is(i + 1, "<")) {
      const size_t close = list_.closing_angle(i + 1);
      return close < list_.size() && list_.is(close + 1, "(");
    }
    return list_.is(i + 1, "(");
  }

  // struct Name { … }, class Name final : Base { … }; neither a declaration nor a mention.
  bool is_class(size_t i) const {
    if (i == 0 || (!list_.is(i - 1, "struct") && !list_.is(i - 1, "class"))) return false;
    return list_.is(i + 1, "{") || list_.is(i + 1, ":") || list_.is(i + 1, "final") ||
           (list_.is(i + 1, "<") && list_.is(list_.closing_angle(i + 1) + 1, "{"));
  }

  // A name and its parameters after a type, with a body.
  bool may_be_function(size_t i) const {
    return i > 0 && list_.is(i + 1, "(") && may_end_type(i - 1);
  }
  bool is_function(size_t i) const {
    size_t after = list_.closing(i + 1) + 1;
    while (list_.is_any(after, {"const", "noexcept", "override", "final"})) {
      ++after;
    }
    return list_.is(after, "{") || list_.is(after, "->");
  }

  std::optional<size_t> qualifier(size_t i) const {
    if (i < 2 || !list_.is_name(i - 2)) return std::nullopt;
    if (!list_.is(i - 1, "::") && !list_.is(i - 1, ".") && !list_.is(i - 1, "->"))
      return std::nullopt;
    return i - 2;
  }

 private:
  bool may_end_type(size_t i) const {
    if (list_.is(i, ">") || list_.is(i, "*") || list_.is(i, "&") || list_.is(i, "::")) return true;
    return list_.is_name(i) && !list_.is(i, "return") && !list_.is(i, "else") &&
           !list_.is(i, "new") && !list_.is(i, "case");
  }

  const cpp::TokenList& list_;
};

// The word after the # of a directive: "if", "include".
std::string_view directive_word(std::string_view directive, std::string_view& rest) {
  const size_t first = directive.find_first_not_of("# \t");
  if (first == std::string_view::npos) return {};
  directive.remove_prefix(first);
  const size_t end = std::min(directive.find_first_of(" \t\"<("), directive.size());
  rest = directive.substr(end);
  return directive.substr(0, end);
}

std::string_view included_header(std::string_view rest) {
  const size_t open = rest.find_first_of("\"<");
  if (open == std::string_view::npos) return {};
  const size_t close = rest.find_first_of("\">", open + 1);
  return close == std::string_view::npos ? std::string_view()
                                         : rest.substr(open + 1, close - open - 1);
}

// Follows #if 0 … #else … #endif, where the code between is as good as a comment.
class DeadBranches {
 public:
  void directive(std::string_view word, std::string_view rest) {
    if (word.starts_with("if")) {
      ++depth_;
      const size_t first = rest.find_first_not_of(" \t");
      const bool never = word == "if" && first != std::string_view::npos && rest[first] == '0' &&
                         rest.find_first_not_of("0 \t\r\n") == std::string_view::npos;
      if (never && dead_at_ == 0) dead_at_ = depth_;
    } else if (word == "endif") {
      if (dead_at_ == depth_) dead_at_ = 0;
      if (depth_ > 0) --depth_;
    } else if (word.starts_with("el") && dead_at_ == depth_) {
      dead_at_ = 0;
    }
  }
  bool dead() const { return dead_at_ != 0; }

 private:
  uint32_t depth_ = 0, dead_at_ = 0;
};

}  // namespace

FileSignals SignalFinder::find(const cpp::TokenList& source) {
  HitCollector hits(table_.signals());
  const CppTokens tokens(source);
  SignalSearch<CppTokens> search(*this, tokens, hits);
  DeadBranches branches;
  for (size_t i = 0; i < source.size(); ++i) {
    if (source.tokens[i].kind == cpp::TokenKind::kDirective) {
      std::string_view rest;
      const std::string_view word = directive_word(source.at(i), rest);
      branches.directive(word, rest);
      if (word != "include" || branches.dead()) continue;
      const std::string_view header = included_header(rest);
      for (const SignalTable::Wanted& wanted : table_.headers()) {
        if (glob_matches(wanted.glob, header)) {
          hits.add(wanted.signal, header, source.tokens[i].line);
        }
      }
    } else if (source.is(i, "static_assert")) {
      // What it asks for is as often what the code refuses.
      i = std::min(source.closing(i + 1), source.size() - 1);
    } else if (source.tokens[i].kind == cpp::TokenKind::kIdentifier && !branches.dead()) {
      search.at(i);
    }
  }
  return hits.take();
}

}  // namespace fathom
