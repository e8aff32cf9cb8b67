#include "scan/cpp/calls.h"

#include "scan/cpp/words.h"

namespace fathom::cpp {
namespace {

// Whether the path before a bracket is what a declaration names: `dim3 grid(…)`.
bool follows_type(const Code& code, size_t first, size_t body_first) {
  if (first <= body_first + 1) return false;
  const size_t before = first - 1;
  if (code.source.is_name(before)) {
    const std::string_view word = code.source.at(before);
    return !is_keyword(word) || word == "auto" || word == "const";
  }
  return code.is(before, ">") && code.brackets.closed(before);
}

// The name before the . or -> at a token: "x" of x.f(), this->x.f(), "x[]" of x[i].f(). Empty: it
// is another expression, or a part of another object.
std::string object_before(const Code& code, size_t dot) {
  if (dot == 0) return {};
  size_t name = dot - 1;
  const bool element = code.is(name, "]") && code.brackets.closed(name);
  if (element) name = code.brackets.partner(name) - 1;
  if (name >= dot || !code.source.is_name(name) || is_keyword(code.source.at(name))) return {};
  const bool part = name > 0 && (code.is(name - 1, ".") || code.is(name - 1, "->"));
  if (part && (name < 2 || !code.is(name - 2, "this"))) return {};
  return "." + std::string(code.source.at(name)) + (element ? "[]" : "");
}

// std::thread(f, …), std::async(std::launch::async, f, …): the function that they run.
void add_started(const Code& code, const Path& callee, size_t open, std::vector<Call>& calls) {
  const std::string_view name = code.source.at(callee.names.back());
  if (name != "thread" && name != "jthread" && name != "async") return;
  for (const Range& one : arguments_of(code, open)) {
    const size_t first = code.is(one.first, "&") ? one.first + 1 : one.first;
    const Path path = path_from(code, first, one.last);
    if (!path.valid() || path.all.last != one.last) return;
    if (path_name(code, path).starts_with("std::launch")) continue;
    calls.push_back({path_name(code, path), false, path_arguments(code, path),
                     code.source.tokens[path.names.back()].line});
    return;
  }
}

}  // namespace

std::vector<Call> find_calls(const Code& code, Range body) {
  std::vector<Call> calls;
  const TokenList& source = code.source;
  for (size_t i = body.first + 1; i < body.last; ++i) {
    if (source.tokens[i].kind != TokenKind::kPunctuator ||
        source.text[source.tokens[i].begin] != '(')
      continue;
    const bool after_name = source.is_name(i - 1);
    if (!after_name && !(code.is(i - 1, ">") && code.brackets.closed(i - 1))) continue;
    if (after_name && (is_keyword(source.at(i - 1)) || is_builtin_type(source.at(i - 1)))) continue;
    Path path = path_before(code, i);
    if (!path.valid() || path.all.first <= body.first) continue;
    if (follows_type(code, path.all.first, body.first)) {
      path = path_before(code, path.all.first);
      if (!path.valid() || path.all.first <= body.first) continue;
      if (is_builtin_type(source.at(path.names.back()))) continue;
    }
    const size_t before = path.all.first - 1;
    const bool member = code.is(before, ".") || code.is(before, "->");
    calls.push_back({path_name(code, path), member, path_arguments(code, path),
                     source.tokens[path.names.back()].line,
                     member ? object_before(code, before) : std::string()});
    if (!member) add_started(code, path, i, calls);
  }
  return calls;
}

}  // namespace fathom::cpp
