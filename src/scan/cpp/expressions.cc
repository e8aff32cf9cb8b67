#include "scan/cpp/expressions.h"

#include <algorithm>

#include "scan/cpp/words.h"

namespace fathom::cpp {

std::vector<Range> split_arguments(const Code& code, Range inside) {
  std::vector<Range> arguments;
  if (inside.empty()) return arguments;
  size_t begin = inside.first;
  for (size_t i = inside.first; i < inside.last;) {
    if (code.is(i, ",")) {
      arguments.push_back({begin, i});
      begin = ++i;
    } else {
      i = code.past(i);
    }
  }
  arguments.push_back({begin, inside.last});
  return arguments;
}

std::vector<Range> arguments_of(const Code& code, size_t open) {
  if (!code.brackets.closed(open)) return {};
  return split_arguments(code, {open + 1, code.brackets.partner(open)});
}

std::vector<std::string> listed_arguments(std::string_view text) {
  const TokenList tokens = lex(text);
  const Brackets brackets(tokens);
  const Code code{tokens, brackets};
  std::vector<std::string> out;
  for (const Range& one : split_arguments(code, {0, tokens.size()})) out.push_back(code.text(one));
  return out;
}

Range value_from(const Code& code, size_t first) {
  constexpr size_t kMaxTokens = 4000;  // longer values are tables
  size_t i = first;
  while (i < code.source.size() && i - first < kMaxTokens) {
    if (code.source.tokens[i].kind == TokenKind::kPunctuator) {
      const std::string_view token = code.source.at(i);
      if (token == ";" || token == "," || token == ")" || token == "}" || token == "]") break;
    }
    i = code.past(i);
  }
  return {first, std::min(i, code.source.size())};
}

Path path_from(const Code& code, size_t first, size_t limit) {
  Path path;
  size_t i = first;
  if (code.is(i, "::")) ++i;
  limit = std::min(limit, code.source.size());
  while (i < limit && code.source.is_name(i)) {
    if (code.is(i, "template") || code.is(i, "typename")) {
      ++i;
      continue;
    }
    path.names.push_back(i++);
    path.arguments.push_back(SIZE_MAX);
    if (i < limit && code.is(i, "<") && code.brackets.closed(i)) {
      path.arguments.back() = i;
      i = code.past(i);
    }
    if (i >= limit || !code.is(i, "::")) break;
    ++i;
  }
  path.all = {first, i};
  return path;
}

Path path_before(const Code& code, size_t end) {
  size_t first = end;
  while (first > 0) {
    size_t name = first - 1;
    if (code.is(name, ">") && code.brackets.closed(name)) {
      name = code.brackets.partner(name);
      if (name == 0) break;
      --name;
    }
    if (!code.source.is_name(name) || is_keyword(code.source.at(name))) break;
    first = name;
    if (first == 0 || !code.is(first - 1, "::")) break;
    first = first - 1;  // :: itself; goes on before it
  }
  return path_from(code, first, end);
}

std::string path_name(const Code& code, const Path& path) {
  std::string name;
  for (const size_t part : path.names) {
    if (!name.empty()) name += "::";
    name += code.source.at(part);
  }
  return name;
}

std::string path_arguments(const Code& code, const Path& path) {
  if (!path.valid() || path.arguments.back() == SIZE_MAX) return {};
  const size_t open = path.arguments.back();
  return code.text({open + 1, code.brackets.partner(open)});
}

}  // namespace fathom::cpp
