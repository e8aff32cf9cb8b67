#include "story/opened_calls.h"

#include <algorithm>
#include <set>

#include "story/memory_names.h"

namespace fathom {
namespace {

constexpr int kSummaryDepth = 5;  // calls followed for what a function does

// Of overloads the one that takes as many arguments as are given.
bool fits_better(const cpp::Code& code, const CppBody& other, const CppBody& than, size_t name) {
  const size_t given = cpp::arguments_of(code, arguments_open(code, name)).size();
  const auto takes = [&](const CppBody& body) {
    return parameter_names(body.function->parameters).size() == given;
  };
  return takes(other) && !takes(than);
}

}  // namespace

size_t arguments_open(const cpp::Code& code, size_t name) {
  const size_t open = name + 1;
  return code.is(open, "<") && code.brackets.closed(open) ? code.past(open) : open;
}

std::span<const FunctionCall> OpenedCalls::calls_in(const CppBody& body) const {
  const auto before = [](const FunctionCall& call, const CodePlace& at) { return call.at < at; };
  const CodePlace first{body.file, body.function->line_first},
      behind{body.file, body.function->line_last + 1};
  const auto from = std::lower_bound(facts_.calls.begin(), facts_.calls.end(), first, before);
  return {from, std::lower_bound(from, facts_.calls.end(), behind, before)};
}

const std::map<std::string_view, CppBody::CallsOfName>& OpenedCalls::calls_by_name(
    const CppBody& body) {
  if (body.calls) return *body.calls;
  body.calls.emplace();
  for (const FunctionCall& call : calls_in(body)) {
    const CppBody* callee = sources_.cpp_function(call.to);
    if (callee == nullptr || callee->function == body.function) continue;
    // What a repository adds to the compiler's own functions is mostly for other types.
    if (callee->function->name.starts_with("__")) continue;
    (*body.calls)[callee->function->name].emplace_back(&call, callee);
  }
  return *body.calls;
}

std::vector<CalledBody> OpenedCalls::of_statement(const CppBody& body, const Statement& statement) {
  std::vector<CalledBody> found;
  const auto& calls = calls_by_name(body);
  if (calls.empty()) return found;
  const cpp::Code& code = *body.code;
  std::set<std::string_view> seen;
  for (size_t i = statement.first; i < statement.last; ++i) {
    if (!code.source.is_name(i) || !code.is(arguments_open(code, i), "(")) continue;
    const auto of_name = calls.find(code.source.at(i));
    if (of_name != calls.end() && seen.insert(of_name->first).second)
      add(body, statement, i, of_name->second, found);
  }
  return found;
}

// The scan keeps one call of each function by another, so a second call of the same name in the
// body means the same function; a call in the statement's own lines goes first.
void OpenedCalls::add(const CppBody& body, const Statement& statement, size_t name,
                      const CppBody::CallsOfName& calls, std::vector<CalledBody>& found) {
  constexpr ptrdiff_t kMostTries = 16;
  const auto line_of = [](const auto& call) { return call.first->at.line; };
  auto first = std::ranges::lower_bound(calls, statement.line_first, {}, line_of);
  auto last = std::ranges::upper_bound(calls, statement.line_last, {}, line_of);
  const bool own_lines = first != last;
  if (!own_lines) first = calls.begin(), last = calls.end();
  last = std::min(last, first + std::min(last - first, kMostTries));
  CalledBody best{first->second, name, first->first->certainty, own_lines};
  while (++first != last) {
    if (fits_better(*body.code, *first->second, *best.body, name)) best.body = first->second;
  }
  found.push_back(best);
}

const std::vector<Saying>& OpenedCalls::summary(const CppBody& body) {
  return summary(body, kSummaryDepth);
}

const std::vector<Saying>& OpenedCalls::summary(const CppBody& body, int depth) {
  static const std::vector<Saying> none;
  if (depth == 0) return none;
  const auto [found, added] = summaries_.try_emplace(body.function);
  if (!added) return found->second;  // known, or being worked out: it calls itself
  Words words;
  for (const cpp::PatternHit& hit : body.hits(cpp::PatternScope::kDevice)) {
    const StepPattern* pattern = step_pattern(hit.id);
    if (pattern != nullptr && pattern->action && hit.certainty != Certainty::kUnsure)
      words.add({Phrase::kPattern, pattern->id});
  }
  for (const FunctionCall& call : calls_in(body)) {
    const CppBody* callee = sources_.cpp_function(call.to);
    if (callee == nullptr || callee->function == body.function) continue;
    for (const Saying& saying : summary(*callee, depth - 1)) words.add(saying);
  }
  return summaries_[body.function] = std::move(words.list);
}

}  // namespace fathom
