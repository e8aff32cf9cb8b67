#include "story/python_story.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "scan/facts/code_names.h"
#include "story/statement_steps.h"
#include "story/step_words.h"

namespace fathom {
namespace {

// "tl.load" of "a = tl.load(…)": the first name that is called.
std::string_view first_callee(std::string_view text) {
  const size_t open = text.find('(');
  if (open == std::string_view::npos || open == 0) return {};
  size_t begin = open;
  const auto in_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  };
  while (begin > 0 && in_name(text[begin - 1])) --begin;
  return text.substr(begin, open - begin);
}

class PythonTeller : public StatementTeller {
 public:
  PythonTeller(const HostContext& context, const PythonBody& body)
      : context_(context), body_(body) {}

  std::vector<StoryStep> run() { return tell_body(body_, *this); }

  std::optional<StoryStep> tell(const Statement& statement) override {
    StoryStep step;
    step.code.push_back(tidy_code(statement.text));
    switch (statement.kind) {
      case StatementKind::kAlias:
        return std::nullopt;
      case StatementKind::kCheck:
        step.words = Phrase::kChecks;
        step.folds = true;
        return step;
      case StatementKind::kThrow:
        step.words = Phrase::kFails;
        return step;
      case StatementKind::kJump:
        step.words = Phrase::kGoesOn;
        return statement.text == "pass" ? std::nullopt : std::optional(step);
      case StatementKind::kReturn:
        if (is_jit(statement)) {
          step.words = Phrase::kFillsInTemplate;
        } else {
          say_returned(step);
        }
        return statement.text == "return" ? std::nullopt : std::optional(step);
      default:
        plain(statement, step);
        return step;
    }
  }

  void enter(const Statement& statement, StoryStep& step) override {
    (void)statement;
    (void)step;
  }

 private:
  void plain(const Statement& statement, StoryStep& step) {
    if (makes_launch(statement)) {
      const std::string as_written = tidy_code(statement.text, 320);
      step = launch_step(context_);
      step.code = {as_written};
      return;
    }
    if (launches_another(statement, step)) return;
    const std::string_view callee = first_callee(statement.text);
    for (const cpp::PatternHit& hit : cpp::find_python_patterns(
             statement.text, statement.line_first, cpp::PatternScope::kPython)) {
      const StepPattern* pattern = step_pattern(hit.id);
      if (pattern != nullptr && pattern->action && step.words.empty() &&
          hit.certainty != Certainty::kUnsure)
        step.words = Words(*pattern);
    }
    if (!step.words.empty()) return;
    if (is_jit(statement)) {
      step.words = Phrase::kFillsInTemplate;
    } else if (names_check(last_part(callee))) {
      step.words = Phrase::kChecks;
      step.folds = true;
    } else if (holds(statement.text, ".empty(") || holds(statement.text, "new_empty(") ||
               holds(statement.text, ".zeros(") || holds(statement.text, "empty_like(")) {
      step.words = Phrase::kAllocates;
    } else if (is_assignment(statement.text)) {
      step.words = Phrase::kComputes;
      step.only_computes = true;
      add_value(statement, step);
    } else {
      step.words = Phrase::kCalls;
    }
  }

  // The launch of another kernel, or of this one in another place.
  bool launches_another(const Statement& statement, StoryStep& step) const {
    const SourceOutlines::LaunchPlaces& places = context_.sources.launches(context_.facts);
    const CodePlace from{body_.file, statement.line_first}, to{body_.file, statement.line_last};
    const auto first =
        std::lower_bound(places.begin(), places.end(), from,
                         [](const auto& place, const CodePlace& at) { return place.first < at; });
    for (auto place = first; place != places.end() && place->first <= to; ++place) {
      const bool same = place->second == context_.kernel;
      step.words = same ? Phrase::kLaunchesHere : Phrase::kLaunchesOther;
      if (!same) step.code = {place->second->name};
      return true;
    }
    return false;
  }

  static bool is_assignment(std::string_view text) {
    const size_t equals = text.find(" = "), bracket = text.find('(');
    return equals != std::string_view::npos &&
           (bracket == std::string_view::npos || equals < bracket);
  }

  bool makes_launch(const Statement& statement) const {
    return context_.launcher != nullptr && context_.launcher->at.file == body_.file &&
           statement.line_first <= context_.launcher->at.line &&
           context_.launcher->at.line <= statement.line_last;
  }

  // The statement that names the C++ function which it wants instantiated.
  bool is_jit(const Statement& statement) const {
    if (context_.kernel == nullptr) return false;
    return std::any_of(
        context_.kernel->path.begin(), context_.kernel->path.end(), [&](const PathHop& hop) {
          return hop.kind == PathHopKind::kJitGenerator && hop.at.file == body_.file &&
                 hop.at.line >= statement.line_first && hop.at.line <= statement.line_last;
        });
  }

  void add_value(const Statement& statement, StoryStep& step) const {
    if (context_.launcher == nullptr) return;
    for (const NamedValue& value : context_.launcher->values) {
      if (value.at.file != body_.file || value.at.line < statement.line_first ||
          value.at.line > statement.line_last)
        continue;
      step.words = Phrase::kComputesForLaunch;
      add_derived(context_, value.name, value.text, step);
      return;
    }
  }

  const HostContext& context_;
  const PythonBody& body_;
};

}  // namespace

std::vector<StoryStep> python_steps(const HostContext& context, const PythonBody& body) {
  return PythonTeller(context, body).run();
}

}  // namespace fathom
