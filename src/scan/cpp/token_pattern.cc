#include "scan/cpp/token_pattern.h"

#include <algorithm>

#include "base/glob.h"
#include "base/text_parts.h"
#include "base/tsv.h"
#include "scan/cpp/asm_text.h"

namespace fathom::cpp {
namespace {

bool is_python(PatternScope scope) {
  return scope != PatternScope::kDevice && scope != PatternScope::kHost;
}

bool is_string(const TokenList& source, size_t at) {
  return source.tokens[at].kind == TokenKind::kString ||
         source.tokens[at].kind == TokenKind::kCharacter;
}

bool joins_names(std::string_view token) { return token == "::" || token == "."; }

// Whether the names that end at `at` end with the parts of a pattern; a part may be a glob.
bool ends_with_parts(const TokenList& source, size_t at, std::string_view pattern) {
  while (true) {
    const size_t cut = pattern.find_last_of(":.");
    const std::string_view part = cut == std::string_view::npos ? pattern : pattern.substr(cut + 1);
    if (!source.is_name(at) || !glob_matches(part, source.at(at))) return false;
    if (cut == std::string_view::npos) return true;
    if (at < 2 || !joins_names(source.at(at - 1))) return false;
    pattern = pattern.substr(0, pattern.find_last_not_of(":.", cut) + 1);
    at -= 2;
  }
}

std::optional<TokenMatch> match_qualified(const TokenList& source, size_t at,
                                          const PatternMatcher& matcher) {
  for (std::string_view pattern : matcher.patterns) {
    size_t end = at;
    if (pattern.ends_with("::*") || pattern.ends_with(".*")) {
      if (at + 2 >= source.size() || !joins_names(source.at(at + 1))) continue;
      end = at + 2;
    }
    if (ends_with_parts(source, end, pattern)) return TokenMatch{end, end + 1, {}, {}, true};
  }
  return std::nullopt;
}

bool element_matches(const TokenList& source, size_t at, std::string_view element) {
  const std::string_view token = source.at(at);
  if (element == "$any") return true;
  if (element == "$name") return source.is_name(at);
  if (element == "$number") return source.tokens[at].kind == TokenKind::kNumber;
  if (element == "$string") return is_string(source, at);
  if (element == "$static") {  // CuTe's integers as types: _128
    return token.size() > 1 && token[0] == '_' &&
           token.find_first_not_of("0123456789", 1) == std::string_view::npos;
  }
  if (element.size() == 1) return token == element;
  for (std::string_view choice : split(element, '|')) {
    if (glob_matches(choice, token)) return true;
  }
  return false;
}

bool captures(std::string_view element) {
  return element.starts_with('$') || (element.size() > 1 && holds(element, '|'));
}

// `...` takes what stands between brackets, up to the next element at the same depth.
std::optional<size_t> skip_to(const TokenList& source, size_t at, size_t last,
                              std::string_view element) {
  const size_t limit = std::min(last, at + kLongestArguments);
  while (at < limit) {
    if (element_matches(source, at, element)) return at;
    const std::string_view token = source.at(at);
    if (token == ")" || token == "]" || token == "}" || token == ";") return std::nullopt;
    if (token == "(" || token == "[" || token == "{") {
      const auto close = closing_near(source, at);
      if (!close) return std::nullopt;
      at = *close;
    }
    ++at;
  }
  return std::nullopt;
}

std::optional<TokenMatch> match_tokens(const TokenList& source, size_t at, size_t last,
                                       const PatternMatcher& matcher) {
  TokenMatch match;
  match.name = at;
  for (size_t e = 0; e < matcher.patterns.size(); ++e) {
    std::string_view element = matcher.patterns[e];
    if (element == "...") {
      if (e + 1 == matcher.patterns.size()) return std::nullopt;
      const auto found = skip_to(source, at, last, matcher.patterns[e + 1]);
      if (!found) return std::nullopt;
      at = *found;
      continue;
    }
    const bool optional = element.size() > 1 && element.ends_with('?');
    if (optional) element.remove_suffix(1);
    if (at >= last || !element_matches(source, at, element)) {
      if (optional) continue;
      return std::nullopt;
    }
    if (captures(element)) match.captures.emplace_back(source.at(at));
    ++at;
  }
  match.end = at;
  return match;
}

// Where the value of a constant begins: after `=`, after an annotation and `=`, after `'key':`.
std::optional<size_t> value_after(const TokenList& source, size_t at, size_t last,
                                  PatternScope scope) {
  if (is_python(scope) && is_string(source, at)) {
    return source.is(at + 1, ":") ? std::optional(at + 2) : std::nullopt;
  }
  if (source.is(at + 1, "=")) return at + 2;
  if (source.is(at + 1, "{") && !is_python(scope)) return at + 2;
  if (!is_python(scope) || !source.is(at + 1, ":")) return std::nullopt;
  for (size_t i = at + 2; i < std::min(last, at + 8); ++i) {
    if (source.is(i, "=")) return i + 1;
    if (source.is(i, ",") || source.is(i, ")")) break;
  }
  return std::nullopt;
}

std::optional<TokenMatch> match_constant(const TokenList& source, size_t at, size_t last,
                                         PatternScope scope) {
  const auto begin = value_after(source, at, last, scope);
  if (!begin || *begin >= last) return std::nullopt;
  TokenMatch match;
  match.name = at;
  int depth = 0, angles = 0;
  size_t i = *begin;
  for (; i < std::min(last, *begin + kLongestExpression); ++i) {
    const std::string_view token = source.at(i);
    if (token == "(" || token == "[" || token == "{") ++depth;
    if ((token == ")" || token == "]" || token == "}") && --depth < 0) break;
    if (token == "<") ++angles;
    if (token == ">" && !source.is(i + 1, "=") && --angles < 0) break;  // a template's default
    if (depth == 0 && angles <= 0 && (token == "," || token == ";")) break;
    if (is_python(scope) && depth == 0 && source.tokens[i].line != source.tokens[at].line) break;
    if (source.tokens[i].kind == TokenKind::kIdentifier || is_string(source, i)) {
      match.literal = false;
    }
  }
  if (i == *begin || i == *begin + kLongestExpression) return std::nullopt;
  match.value = source.source(*begin, i);
  if (match.value == source.at(at)) return std::nullopt;  // f(num_stages=num_stages)
  match.end = i;
  return match;
}

std::string replacement(std::string_view key, const TokenList& source, const TokenMatch& match) {
  std::string_view name = source.at(match.name);
  while (name.starts_with('"') || name.starts_with('\'')) name.remove_prefix(1);
  while (name.ends_with('"') || name.ends_with('\'')) name.remove_suffix(1);
  if (key == "name") return std::string(name);
  if (key == "path") return qualified_name(source, match.name);
  if (key == "value") return match.value;
  if (key == "match") return source.source(match.name, match.end);
  if (key == "shape") return matrix_shape(name);
  if (key == "shape|name") {
    const std::string shape = matrix_shape(name);
    return shape.empty() ? std::string(name) : shape;
  }
  if (key == "template") {
    if (!source.is(match.name + 1, "<")) return {};
    const auto close = closing_angle_near(source, match.name + 1);
    return close ? source.source(match.name + 2, *close) : std::string();
  }
  if (key == "args" || key.starts_with("arg")) {
    const auto open = call_bracket(source, match.name);
    if (!open) return {};
    if (key == "args") {
      const auto close = closing_near(source, *open);
      return close ? source.source(*open + 1, *close) : std::string();
    }
    const auto arguments = arguments_of(source, *open);
    const size_t nth = key[3] - '1';
    return nth < arguments.size() ? arguments[nth] : std::string();
  }
  const size_t nth = key[0] - '1';
  return nth < match.captures.size() ? match.captures[nth] : std::string();
}

}  // namespace

std::optional<size_t> closing_near(const TokenList& source, size_t open, size_t limit) {
  size_t depth = 0;
  for (size_t i = open; i < std::min(source.size(), open + limit); ++i) {
    if (source.tokens[i].kind != TokenKind::kPunctuator) continue;
    const char c = source.text[source.tokens[i].begin];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && --depth == 0) return i;
  }
  return std::nullopt;
}

std::optional<size_t> closing_angle_near(const TokenList& source, size_t open) {
  size_t angles = 0, brackets = 0;
  for (size_t i = open; i < std::min(source.size(), open + kLongestArguments); ++i) {
    if (source.tokens[i].kind != TokenKind::kPunctuator) continue;
    const std::string_view token = source.at(i);
    const char c = token[0];
    if (c == '(' || c == '[' || c == '{') ++brackets;
    if (c == ')' || c == ']' || c == '}') {
      if (brackets-- == 0) return std::nullopt;
    }
    if (brackets > 0) continue;
    if (token == ";" || token == "&&" || token == "||") return std::nullopt;
    if (token == "<") ++angles;
    const bool compares =
        source.is(i + 1, "=") && source.tokens[i + 1].begin == source.tokens[i].end;
    if (token == ">" && !compares && --angles == 0) return i;
  }
  return std::nullopt;
}

std::optional<size_t> call_bracket(const TokenList& source, size_t name) {
  size_t at = name + 1;
  if (source.is(at, "<")) {
    const auto close = closing_angle_near(source, at);
    if (!close) return std::nullopt;
    at = *close + 1;
  }
  return source.is(at, "(") ? std::optional(at) : std::nullopt;
}

std::vector<std::string> arguments_of(const TokenList& source, size_t open) {
  std::vector<std::string> arguments;
  const auto close = closing_near(source, open);
  if (!close || *close == open + 1) return arguments;
  size_t begin = open + 1;
  for (size_t i = open + 1; i <= *close; ++i) {
    const std::string_view token = source.at(i);
    if (i == *close || token == ",") {
      arguments.push_back(source.source(begin, i));
      begin = i + 1;
    } else if (token == "(" || token == "[" || token == "{") {
      i = closing_near(source, i).value_or(i);
    } else if (token == "<") {
      // a < b, c > d is read as template arguments; nobody writes it in a call that matters here
      i = closing_angle_near(source, i).value_or(i);
    }
  }
  return arguments;
}

std::optional<TokenMatch> match_at(const TokenList& source, size_t at, size_t last,
                                   const PatternMatcher& matcher, PatternScope scope) {
  const bool name = source.is_name(at);
  const TokenMatch plain{at, at + 1, {}, {}, true};
  switch (matcher.kind) {
    case MatchKind::kName:
      return name ? std::optional(plain) : std::nullopt;
    case MatchKind::kCall:
      return name && call_bracket(source, at) ? std::optional(plain) : std::nullopt;
    case MatchKind::kTemplate:
      return name && source.is(at + 1, "<") && closing_angle_near(source, at + 1)
                 ? std::optional(plain)
                 : std::nullopt;
    case MatchKind::kQualified:
      return name ? match_qualified(source, at, matcher) : std::nullopt;
    case MatchKind::kTokens:
      return match_tokens(source, at, last, matcher);
    case MatchKind::kConstant:
      return match_constant(source, at, last, scope);
    default:
      return std::nullopt;
  }
}

std::string qualified_name(const TokenList& source, size_t at) {
  size_t begin = at;
  while (begin >= 2 && joins_names(source.at(begin - 1)) && source.is_name(begin - 2)) begin -= 2;
  return source.source(begin, at + 1);
}

std::string fill_detail(std::string_view detail, const TokenList& source, const TokenMatch& match) {
  std::string out;
  while (!detail.empty()) {
    const size_t open = std::min(detail.find('{'), detail.size());
    out += detail.substr(0, open);
    detail.remove_prefix(open);
    if (detail.empty()) break;
    const size_t close = std::min(detail.find('}'), detail.size() - 1);
    out += replacement(detail.substr(1, close - 1), source, match);
    detail.remove_prefix(close + 1);
  }
  while (out.ends_with(' ')) out.pop_back();
  constexpr size_t kLongestDetail = 120;  // of characters; longer expressions say no more
  if (out.size() > kLongestDetail) {
    size_t end = kLongestDetail - 3;
    while (end > 0 && (out[end] & 0xC0) == 0x80) --end;  // not inside a character
    out = out.substr(0, end) + "...";
  }
  return out;
}

}  // namespace fathom::cpp
