#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "scan/facts/code_names.h"
#include "scan/facts/pattern_ids.h"
#include "scan/facts/text_lines.h"
#include "story/device_words.h"
#include "story/python_story.h"
#include "story/statement_steps.h"
#include "story/step_words.h"

namespace fathom {
namespace {

constexpr size_t kMostPythonSteps = 40;

// The statements that one telling may still open in called functions. Where they do not suffice,
// the telling is too long to be used.
struct Openings {
  static constexpr size_t kMost = 2000;
  size_t left = kMost;
  bool exceeded = false;

  bool take(size_t statements) {
    exceeded = exceeded || statements > left;
    if (!exceeded) left -= statements;
    return !exceeded;
  }
};

// The first argument of the call whose bracket opens at `open`.
std::string_view first_argument(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (depth == 0 || (depth == 1 && c == ',')) return text.substr(open + 1, i - open - 1);
  }
  return text.substr(std::min(open + 1, text.size()));
}

class TritonTeller : public StatementTeller {
 public:
  TritonTeller(const PythonBody& body, cpp::PatternScope scope, SourceOutlines& sources, int levels,
               Openings& openings)
      : body_(body), scope_(scope), sources_(sources), levels_(levels), openings_(openings) {
    if (levels > 0) find_callees();
    for (size_t i = 0; i < body.function->parameters.size(); ++i) {
      const bool constant = i < body.function->annotations.size() &&
                            holds(body.function->annotations[i], "constexpr");
      if (constant) constants_.insert(body.function->parameters[i].name);
    }
  }

  std::vector<StoryStep> run() { return tell_body(body_, *this); }

  std::optional<StoryStep> tell(const Statement& statement) override {
    StoryStep step;
    step.code.push_back(tidy_code(statement.text));
    switch (statement.kind) {
      case StatementKind::kAlias:
        return std::nullopt;
      case StatementKind::kCheck:
        step.words = Phrase::kCheckedWhenCompiled;
        return step;
      case StatementKind::kReturn:
        if (statement.text == "return") return std::nullopt;
        deed(statement, step);
        return returning(std::move(step));
      case StatementKind::kJump:
        if (statement.text == "pass") return std::nullopt;
        step.words = statement.text == "break" ? Phrase::kLeavesLoop : Phrase::kGoesOn;
        return step;
      default:
        deed(statement, step);
        return step;
    }
  }

  void enter(const Statement& statement, StoryStep& step) override {
    const bool branch =
        statement.kind == StatementKind::kIf || statement.kind == StatementKind::kElseIf;
    const std::string_view text = statement.text;
    const std::vector<std::string_view> names =
        code_names(text.substr(std::min(text.find(' '), text.size())));
    const bool constant =
        branch && !names.empty() &&
        std::all_of(names.begin(), names.end(), [&](std::string_view name) {
          return constants_.contains(name) ||
                 is_one_of(name, {"not", "and", "or", "is", "None", "True", "False"});
        });
    if (constant) {
      step.words = statement.kind == StatementKind::kIf ? Phrase::kOnlyIfCompiled
                                                        : Phrase::kOtherwiseIfCompiled;
    }
    if (statement.kind == StatementKind::kLoop && holds(text, "static_range("))
      step.remarks.push_back({Phrase::kUnrolledRange, "", {}, {}});
    const size_t stages = statement.text.find("num_stages");
    if (statement.kind == StatementKind::kLoop && stages != std::string::npos) {
      const size_t end = statement.text.find_first_of(",)", stages);
      step.remarks.push_back({Phrase::kSoftwarePipeline,
                              tidy_code(statement.text.substr(stages, end - stages)),
                              {},
                              {}});
    }
  }

 private:
  void deed(const Statement& statement, StoryStep& step) {
    const std::string& text = statement.text;
    const std::string target = name_set(text);
    std::string through;
    if (holds(text, "tl.load(") || holds(text, ".load(")) {
      step.words = Phrase::kReadsGlobal;
      through = index_of(text, "load(");
      if (!target.empty()) {
        loaded_[target] = target;
      }
    } else if (holds(text, "tl.store(") || holds(text, ".store(")) {
      step.words = Phrase::kWritesGlobal;
      through = index_of(text, "store(");
    }
    if (!through.empty())
      step.remarks.push_back({Phrase::kThroughIndex, through, {}, Certainty::kLikely});
    const bool masked = !step.words.empty() && holds(text, "mask=");
    if (masked) step.remarks.push_back({Phrase::kMasked, "", {}, {}});
    add_hits(statement, step);
    open_call(statement, step);
    if (!step.words.empty()) return;
    step.only_computes = true;
    const std::string from = origin_of(text);
    if (holds(text, "program_id(") || holds(text, "block_idx(") || holds(text, "thread_idx(")) {
      step.words = Phrase::kFindsPlace;
    } else if (accumulates(text) && !holds(text, "ptr")) {
      step.words = Phrase::kAccumulates;
      step.only_computes = false;
    } else {
      step.words = Phrase::kComputes;
    }
    if (!target.empty() && !from.empty()) loaded_[target] = from;
  }

  // `x` of "x = …" and "x += …".
  static std::string name_set(std::string_view text) {
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) return "";
    std::string_view left = text.substr(0, equals);
    while (!left.empty() && (left.back() == ' ' || left.back() == '+')) left.remove_suffix(1);
    const bool plain = std::all_of(
        left.begin(), left.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
    return plain ? std::string(left) : "";
  }

  // The value read from memory that an expression is made of.
  std::string origin_of(std::string_view text) const {
    const size_t equals = text.find('=');
    for (const std::string_view name :
         code_names(equals == std::string_view::npos ? text : text.substr(equals + 1))) {
      if (const auto found = loaded_.find(name); found != loaded_.end()) return found->second;
    }
    return "";
  }

  std::string index_of(std::string_view text, std::string_view call) const {
    const size_t at = text.find(call);
    if (at == std::string_view::npos) return "";
    for (const std::string_view name : code_names(first_argument(text, at + call.size() - 1))) {
      if (const auto found = loaded_.find(name); found != loaded_.end()) return found->second;
    }
    return "";
  }

  void add_hits(const Statement& statement, StoryStep& step) const {
    bool multiplies = false;
    for (const cpp::PatternHit& hit :
         cpp::find_python_patterns(statement.text, statement.line_first, scope_)) {
      const StepPattern* pattern = step_pattern(hit.id);
      if (pattern == nullptr || hit.certainty == Certainty::kUnsure ||
          hit.id == pattern_id::kMaskedAccess)
        continue;
      if (pattern->action) {
        step.words.add({Phrase::kPattern, pattern->id});
        multiplies = multiplies || pattern->multiplies;
      } else {
        step.remarks.push_back({Words(*pattern), hit.detail, {}, hit.certainty});
      }
    }
    if (multiplies && holds(statement.text, "+=")) step.words.tail = Phrase::kAndAccumulates;
  }

  // The calls of functions of the same file that can be opened, in order of line.
  void find_callees() {
    for (const python::Call& call : body_.function->calls) {
      if (holds(call.callee, ".") || call.callee == body_.function->name) continue;
      const PythonBody* callee = sources_.python_function(body_.file, call.callee);
      if (callee != nullptr && !callee->function->decorators.empty())
        callees_.emplace_back(&call, callee);
    }
    std::ranges::stable_sort(callees_, {}, line_of);
  }

  void open_call(const Statement& statement, StoryStep& step) {
    auto next = std::ranges::lower_bound(callees_, statement.line_first, {}, line_of);
    for (; next != callees_.end() && line_of(*next) <= statement.line_last; ++next) {
      const auto& [call, callee] = *next;
      if (call->line_last > statement.line_last) continue;
      if (!openings_.take(callee->statements.size() + 1)) return;
      std::vector<StoryStep> steps =
          TritonTeller(*callee, scope_, sources_, levels_ - 1, openings_).run();
      const bool acts = std::any_of(steps.begin(), steps.end(), [](const StoryStep& inner) {
        return !inner.only_computes && !inner.words.is(Phrase::kReturns);
      });
      if (!acts) continue;
      if (step.words.empty()) step.words = Phrase::kCalls;
      step.remarks.push_back(
          {Phrase::kOpenedFrom, "", {callee->file, callee->function->line_name}, {}});
      std::move(steps.begin(), steps.end(), std::back_inserter(step.inside));
      return;
    }
  }

  using Callee = std::pair<const python::Call*, const PythonBody*>;
  static uint32_t line_of(const Callee& one) { return one.first->line_first; }

  const PythonBody& body_;
  const cpp::PatternScope scope_;
  SourceOutlines& sources_;
  const int levels_;
  Openings& openings_;
  std::vector<Callee> callees_;
  std::set<std::string, std::less<>> constants_;
  std::map<std::string, std::string, std::less<>> loaded_;
};

}  // namespace

DeviceStory python_device_story(const KernelFacts& kernel, SourceOutlines& sources) {
  DeviceStory story;
  const PythonBody* body = sources.python_function({kernel.at.file, kernel.line_name});
  if (body == nullptr) return story;
  story.at = {body->file, body->function->line_first};
  story.line_last = body->function->line_last;
  const bool triton = kernel.kind == KernelKind::kTriton || kernel.kind == KernelKind::kGluon;
  const cpp::PatternScope scope = triton ? cpp::PatternScope::kTriton : cpp::PatternScope::kCute;
  for (int levels = 2; levels >= 0; --levels) {
    Openings openings;
    story.steps = TritonTeller(*body, scope, sources, levels, openings).run();
    if (!openings.exceeded && count_steps(story.steps) <= kMostPythonSteps) return story;
  }
  story.left_out = shorten(story.steps, kMostPythonSteps);
  return story;
}

}  // namespace fathom
