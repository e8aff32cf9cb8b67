#include "scan/cpp/local_values.h"

#include <algorithm>
#include <array>

namespace fathom::cpp {
namespace {

// An initialiser longer than this is a table or a lambda, and no launch is made of it.
constexpr size_t kMaxLocalTokens = 120;

bool is_type_end(const TokenList& source, size_t i) {
  if (i >= source.size()) return false;
  if (source.is_name(i)) {
    constexpr std::array<std::string_view, 6> not_types = {"return", "throw", "case",
                                                           "goto",   "new",   "delete"};
    return std::find(not_types.begin(), not_types.end(), source.at(i)) == not_types.end();
  }
  return source.is(i, ">") || source.is(i, "*") || source.is(i, "&") || source.is(i, "&&");
}

// Behind the template arguments that open at `open`, or `open` itself where it is a comparison.
size_t skip_template_arguments(const TokenList& source, size_t open, size_t last) {
  int depth = 0;
  for (size_t i = open; i < std::min(last, open + kMaxLocalTokens); ++i) {
    const std::string_view token = source.at(i);
    if (token == "<") ++depth;
    if (token == ">" && --depth == 0) return i;
    if (token == ";" || token == "&&" || token == "||" || token == "{") break;
  }
  return open;
}

// Behind the expression that begins at `first`: at the ; , or closing bracket that ends it.
size_t expression_end(const TokenList& source, size_t first, size_t last) {
  int depth = 0;
  for (size_t i = first; i < std::min(last, first + kMaxLocalTokens); ++i) {
    const std::string_view token = source.at(i);
    if (source.tokens[i].kind == TokenKind::kDirective) return i;
    if (token == "(" || token == "[" || token == "{") ++depth;
    if (token == ")" || token == "]" || token == "}") {
      if (--depth < 0) return i;
    }
    if (token == "<") i = skip_template_arguments(source, i, last);
    if (depth == 0 && (token == ";" || token == ",")) return i;
  }
  return last;
}

// The first token of "a.b->c" that ends at `name`.
size_t member_begin(const TokenList& source, size_t name, size_t first) {
  size_t at = name;
  while (at >= first + 2 && (source.is(at - 1, ".") || source.is(at - 1, "->")) &&
         source.is_name(at - 2)) {
    at -= 2;
  }
  return at;
}

class ValueFinder {
 public:
  ValueFinder(const TokenList& source, size_t first, size_t last)
      : source_(source), first_(first), last_(std::min(last, source.size())) {}

  std::vector<LocalValue> run() {
    for (size_t i = first_; i + 2 < last_; ++i) {
      if (!source_.is_name(i)) continue;
      if (source_.is(i + 1, "=")) {
        add(member_begin(source_, i, first_), i + 1, i + 2);
      } else if ((source_.is(i + 1, "(") || source_.is(i + 1, "{")) && declares(i)) {
        constructed(i);
      }
    }
    return std::move(out_);
  }

 private:
  // `dim3 grid(x, y)` and `int n{4}`, but not the call f(x).
  bool declares(size_t name) const {
    return name > first_ && is_type_end(source_, name - 1) && source_.is_name(name - 1);
  }

  void constructed(size_t name) {
    const size_t open = name + 1;
    const size_t end = expression_end(source_, open + 1, last_);
    // Several arguments: the type's name says what they make, as dim3(x, y).
    size_t close = end;
    while (close < last_ && source_.is(close, ","))
      close = expression_end(source_, close + 1, last_);
    if (close >= last_ || !(source_.is(close, ")") || source_.is(close, "}"))) return;
    std::string text = source_.source(open + 1, close);
    if (text.empty()) return;
    if (source_.is(name - 1, "dim3") || close != end) {
      text = std::string(source_.at(name - 1)) + "(" + text + ")";
    }
    out_.push_back({std::string(source_.at(name)), std::move(text), source_.tokens[name].line});
  }

  void add(size_t name_first, size_t equals, size_t value) {
    const size_t end = expression_end(source_, value, last_);
    if (end >= last_ || end == value) return;
    std::string text = source_.source(value, end);
    const bool lambda = text.starts_with('[');
    const bool designated = name_first > first_ && source_.is(name_first - 1, ".");
    if (lambda || designated) return;
    out_.push_back(
        {source_.source(name_first, equals), std::move(text), source_.tokens[name_first].line});
  }

  const TokenList& source_;
  size_t first_, last_;
  std::vector<LocalValue> out_;
};

// #define NAME value, without parameters
void add_macro(std::string_view directive, uint32_t line, std::vector<LocalValue>& out) {
  const TokenList tokens = lex(directive.substr(1));
  if (tokens.size() < 3 || !tokens.is(0, "define") || !tokens.is_name(1)) return;
  if (tokens.is(2, "(") && tokens.tokens[2].begin == tokens.tokens[1].end) return;
  if (tokens.size() > 12) return;
  out.push_back({std::string(tokens.at(1)), tokens.source(2, tokens.size()), line});
}

}  // namespace

std::vector<LocalValue> local_values(const TokenList& source, size_t body_first, size_t body_last) {
  return ValueFinder(source, body_first, body_last).run();
}

std::vector<LocalValue> file_constants(const TokenList& source) {
  std::vector<LocalValue> out;
  bool constant = false;  // the statement at hand began with const or constexpr
  for (size_t i = 0; i + 2 < source.size(); ++i) {
    if (source.tokens[i].kind == TokenKind::kDirective) {
      add_macro(source.at(i), source.tokens[i].line, out);
      continue;
    }
    const std::string_view token = source.at(i);
    if (token == "constexpr" || token == "const") constant = true;
    if (token == ";" || token == "{" || token == "}" || token == "(") constant = false;
    if (!constant || !source.is_name(i) || !source.is(i + 1, "=")) continue;
    const size_t end = expression_end(source, i + 2, source.size());
    // What a function computes for itself is no constant of the file, but harmless: names that have
    // several values are not used.
    if (end - i <= 24) {
      out.push_back({std::string(token), source.source(i + 2, end), source.tokens[i].line});
    }
    constant = false;
  }
  return out;
}

std::vector<LocalValue> template_defaults(std::string_view template_parameters, uint32_t line) {
  const TokenList tokens = lex(template_parameters);
  std::vector<LocalValue> out;
  for (size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (!tokens.is_name(i) || !tokens.is(i + 1, "=")) continue;
    const size_t end = expression_end(tokens, i + 2, tokens.size());
    out.push_back({std::string(tokens.at(i)), tokens.source(i + 2, end), line});
  }
  return out;
}

}  // namespace fathom::cpp
