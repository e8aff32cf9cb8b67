#include "scan/cpp/launch_conditions.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "base/text_parts.h"
#include "scan/cpp/token_pattern.h"

namespace fathom::cpp {
namespace {

// A function's body is not searched farther back than this from a launch.
constexpr size_t kFarthestToken = 1500;
constexpr size_t kMostConditions = 8;
constexpr size_t kLongestCondition = 160;

class ConditionReader {
 public:
  explicit ConditionReader(const TokenList& source) : source_(source) {}

  std::vector<std::string> around(size_t token) {
    out_.clear();
    launch_ = token;
    begin_ = token > kFarthestToken ? token - kFarthestToken : 0;
    unbraced(token);
    size_t at = token;
    bool in_case = false;
    while (at > begin_ && out_.size() < kMostConditions) {
      --at;
      if (closes(at)) {
        at = opening(at);
        continue;
      }
      if (source_.is(at, "case") || (source_.is(at, "default") && source_.is(at + 1, ":"))) {
        if (!in_case) case_ = at;
        in_case = true;
      }
      if (source_.is(at, "{") || source_.is(at, "(")) {
        if (!open_bracket(at, in_case)) break;
        in_case = false;
      }
    }
    std::reverse(out_.begin(), out_.end());
    return out_;
  }

 private:
  bool closes(size_t at) const {
    return source_.is(at, ")") || source_.is(at, "}") || source_.is(at, "]");
  }

  // The bracket that opens the one at `close`; begin_ where it lies too far back.
  size_t opening(size_t close) const {
    size_t depth = 0;
    for (size_t at = close + 1; at-- > begin_;) {
      if (closes(at)) ++depth;
      const bool opens = source_.is(at, "(") || source_.is(at, "{") || source_.is(at, "[");
      if (opens && --depth == 0) return at;
    }
    return begin_;
  }

  // if (x) launch: the statement has no braces.
  void unbraced(size_t token) {
    size_t at = token;
    while (at > begin_ && !source_.is(at - 1, ";") && !source_.is(at - 1, "{") &&
           !source_.is(at - 1, "}") && !source_.is(at - 1, ")") && !source_.is(at - 1, "else") &&
           !source_.is(at - 1, ":"))
      --at;
    if (at == begin_) return;
    if (source_.is(at - 1, ")")) branch_of(opening(at - 1), at - 1);
    if (source_.is(at - 1, "else")) otherwise(at - 1);
  }

  // What a bracket around the launch says; false: it is the function's own body.
  bool open_bracket(size_t open, bool in_case) {
    if (open == 0) return false;
    const size_t before = open - 1;
    if (source_.is(open, "(")) {
      // DISPATCH(head_dim, HEAD_DIM, { … }): a macro whose last argument is the code.
      if (source_.is_name(before) && is_macro(source_.at(before))) chosen_by_macro(before);
      return true;
    }
    if (source_.is(before, "else")) {
      otherwise(before);
    } else if (source_.is(before, ")") || source_.is(before, "constexpr")) {
      const size_t first = opening(before);
      if (first == begin_ || first == 0) return false;
      if (source_.is(first - 1, "switch")) {
        if (in_case) chosen_by_case(first, before);
        return true;
      }
      const bool loop = source_.is(first - 1, "for") || source_.is(first - 1, "while");
      if (loop) return true;
      if (source_.is(first - 1, "if") || source_.is(first - 1, "constexpr")) {
        branch_of(first, before);
        return true;
      }
      // A lambda goes on; a function ends here.
      return source_.is(first - 1, "]");
    }
    // [&] { … } is inside something; do { and bare blocks are too.
    return source_.is_any(before, {"]", ",", ";", "{", "}", "(", ":", "else", "do", "try"});
  }

  static bool is_macro(std::string_view name) {
    return name.size() > 4 && std::all_of(name.begin(), name.end(), [](unsigned char c) {
             return std::isupper(c) != 0 || std::isdigit(c) != 0 || c == '_';
           });
  }

  // if (…) or if constexpr (…), and the else before it.
  void branch_of(size_t open, size_t close) {
    if (open == 0 || open <= begin_) return;
    size_t word = open - 1;
    if (source_.is(word, "constexpr") && word > 0) --word;
    if (!source_.is(word, "if")) return;
    add(source_.source(open + 1, close));
  }

  void otherwise(size_t word) {
    if (word == 0) return;
    // } else: the condition of the branch before.
    size_t before = word - 1;
    if (source_.is(before, "}")) {
      const size_t open = opening(before);
      if (open <= begin_ || !source_.is(open - 1, ")")) return;
      const size_t first = opening(open - 1);
      if (first <= begin_) return;
      size_t key = first - 1;
      if (source_.is(key, "constexpr")) --key;
      if (source_.is(key, "if")) add("not (" + source_.source(first + 1, open - 1) + ")");
    }
  }

  void chosen_by_case(size_t first, size_t before) {
    size_t end = case_ + 1;
    while (end < source_.size() && end < case_ + 24 && !source_.is(end, ":")) ++end;
    const std::string subject = source_.source(first + 1, before);
    if (source_.is(case_, "default")) return add(subject + ": none of the cases");
    add(subject + " == " + source_.source(case_ + 1, end));
  }

  void chosen_by_macro(size_t name) {
    size_t end = name + 2, depth = 0;
    bool type = false;  // at::ScalarType::Half, at::kHalf: one more type, before what is asked for
    while (end < source_.size() && end < name + 40) {
      if (source_.is(end, "(")) ++depth;
      if (source_.is(end, ")") && depth-- == 0) break;
      const bool enumerated = source_.is(end - 1, "::") && source_.at(end).starts_with('k');
      if (source_.is(end, "ScalarType") || enumerated) type = true;
      if (source_.is(end, ",") && depth == 0 && !std::exchange(type, false)) break;
      ++end;
    }
    // A macro that checks a call is no choice: its first argument is the call.
    if (!source_.is(end, ",") || depth != 0 || end > launch_) return;
    add(std::string(source_.at(name)) + "(" + source_.source(name + 2, end) + ")");
  }

  void add(std::string text) {
    if (text.size() > kLongestCondition) return;
    if (!contains(out_, text)) out_.push_back(std::move(text));
  }

  const TokenList& source_;
  size_t begin_ = 0, case_ = 0, launch_ = 0;
  std::vector<std::string> out_;
};

}  // namespace

std::vector<std::vector<std::string>> launch_conditions(const TokenList& source,
                                                        const std::vector<Launch>& launches) {
  // A file of nothing but launches would be read over and over.
  constexpr size_t kMostLaunches = 2000;
  std::vector<std::vector<std::string>> out(launches.size());
  ConditionReader reader(source);
  for (size_t i = 0; i < std::min(launches.size(), kMostLaunches); ++i) {
    const auto token =
        std::lower_bound(source.tokens.begin(), source.tokens.end(), launches[i].line_first,
                         [](const Token& t, uint32_t line) { return t.line < line; });
    if (token == source.tokens.end()) continue;
    auto at = static_cast<size_t>(token - source.tokens.begin());
    // `if (x) kernel<<<…>>>()` may stand on one line.
    for (size_t j = at; j < std::min(source.size(), at + 60); ++j) {
      if (source.tokens[j].line != token->line) break;
      if (source.is(j, "<<<")) at = j;
    }
    out[i] = reader.around(at);
  }
  return out;
}

}  // namespace fathom::cpp
