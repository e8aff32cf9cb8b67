#include "story/opened_calls.h"

#include <algorithm>

#include "story/memory_names.h"
#include "story/step_words.h"

namespace fathom {
namespace {

constexpr int kSummaryDepth = 5;  // calls followed for what a function does

// Where a statement calls a function of this name; SIZE_MAX: nowhere.
size_t name_in(const cpp::Code& code, const Statement& statement, std::string_view name) {
  for (size_t i = statement.first; i < statement.last; ++i) {
    if (!code.source.is_name(i) || code.source.at(i) != name) continue;
    if (code.is(arguments_open(code, i), "(")) return i;
  }
  return SIZE_MAX;
}

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

// The scan keeps one call of each function by another, so a second call of the same name in the
// body means the same function; a call in the statement's own lines goes first.
std::vector<CalledBody> OpenedCalls::of_statement(const CppBody& body, const Statement& statement) {
  std::vector<CalledBody> found;
  for (const bool own_lines : {true, false}) {
    for (const FunctionCall& call : calls_in(body)) {
      const bool here = call.at.line >= statement.line_first && call.at.line <= statement.line_last;
      if (here == own_lines) add(body, statement, call, own_lines, found);
    }
  }
  std::sort(found.begin(), found.end(),
            [](const CalledBody& a, const CalledBody& b) { return a.name < b.name; });
  return found;
}

void OpenedCalls::add(const CppBody& body, const Statement& statement, const FunctionCall& call,
                      bool own_lines, std::vector<CalledBody>& found) {
  const CppBody* callee = sources_.cpp_function(call.to);
  if (callee == nullptr || callee->function == body.function) return;
  // What a repository adds to the compiler's own functions is mostly for other types.
  if (callee->function->name.starts_with("__")) return;
  const size_t name = name_in(*body.code, statement, callee->function->name);
  if (name == SIZE_MAX) return;
  const auto same = std::find_if(found.begin(), found.end(),
                                 [&](const CalledBody& one) { return one.name == name; });
  if (same == found.end()) {
    found.push_back({callee, name, call.certainty, own_lines});
  } else if (same->own_lines == own_lines && fits_better(*body.code, *callee, *same->body, name)) {
    same->body = callee;
  }
}

const std::vector<std::string>& OpenedCalls::summary(const CppBody& body) {
  return summary(body, kSummaryDepth);
}

const std::vector<std::string>& OpenedCalls::summary(const CppBody& body, int depth) {
  static const std::vector<std::string> none;
  if (depth == 0) return none;
  const auto [found, added] = summaries_.try_emplace(body.function);
  if (!added) return found->second;  // known, or being worked out: it calls itself
  std::vector<std::string> words;
  const auto add_word = [&](std::string_view text) {
    if (std::find(words.begin(), words.end(), text) == words.end()) words.emplace_back(text);
  };
  for (const cpp::PatternHit& hit : body.hits(cpp::PatternScope::kDevice)) {
    const StepWords* said = step_words(hit.id);
    if (said != nullptr && said->action && hit.certainty != Certainty::kUnsure)
      add_word(said->words);
  }
  for (const FunctionCall& call : calls_in(body)) {
    const CppBody* callee = sources_.cpp_function(call.to);
    if (callee == nullptr || callee->function == body.function) continue;
    for (const std::string& text : summary(*callee, depth - 1)) add_word(text);
  }
  return summaries_[body.function] = std::move(words);
}

}  // namespace fathom
