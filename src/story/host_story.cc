#include "story/host_story.h"

#include <fmt/format.h>

#include <algorithm>

#include "scan/facts/code_names.h"
#include "scan/facts/fact_names.h"
#include "scan/facts/pattern_ids.h"
#include "story/statement_steps.h"
#include "story/step_words.h"

namespace fathom {
namespace {

// cudaMemcpyAsync, ::ncclAllReduce, cublasLtMatmul: their result is an error code.
bool is_library_call(std::string_view name) {
  return starts_with_any(name, {"cuda", "nccl", "cublas", "cudnn", "hip", "cuM", "cuL", "nvshmem"});
}

class HostTeller : public StatementTeller {
 public:
  HostTeller(const HostContext& context, const CppBody& body, int levels)
      : context_(context), body_(body), code_(*body.code), levels_(levels) {}

  std::vector<StoryStep> run() { return tell_body(body_, *this); }

  std::optional<StoryStep> tell(const Statement& statement) override {
    StoryStep step;
    switch (statement.kind) {
      case StatementKind::kAlias:
        return std::nullopt;
      case StatementKind::kCheck:
        step.words = Phrase::kCheckedWhenCompiled;
        step.code.push_back(tidy_code(statement.text, 120));
        step.only_computes = true;
        return step;
      case StatementKind::kJump:
        step.words = Phrase::kGoesOn;
        step.code.push_back(statement.text);
        return step;
      case StatementKind::kThrow:
        step.words = Phrase::kFails;
        step.code.push_back(tidy_code(statement.text));
        return step;
      case StatementKind::kReturn:
        if (statement.text == "return") return std::nullopt;
        return returning(deed(statement));
      default:
        // Room without a value is no step.
        if (statement.text.find_first_of("=({") == std::string::npos) return std::nullopt;
        return deed(statement);
    }
  }

  void enter(const Statement& statement, StoryStep& step) override {
    const bool tests = statement.kind == StatementKind::kIf ||
                       statement.kind == StatementKind::kElseIf ||
                       statement.kind == StatementKind::kLoop;
    if (tests) add_hits(statement, step);
  }

 private:
  StoryStep deed(const Statement& statement) {
    StoryStep step;
    step.code.push_back(tidy_code(statement.text));
    if (launches(statement, step)) return step;
    const std::string_view callee = first_callee(statement);
    const std::string_view inner = inner_callee(statement);
    add_hits(statement, step);
    const bool error_check =
        (names_check(callee) || holds(callee, "CALL")) && is_library_call(inner);
    if (error_check) {
      if (step.words.empty()) step.words = Phrase::kCallsLibrary;
      step.remarks.push_back({Phrase::kResultChecked, "", {}, {}});
    } else if (names_check(callee) || holds(statement.text, ".verify(")) {
      step.words = Phrase::kChecks;
      step.folds = true;
      open_check(statement, step);
    } else if (step.words.empty()) {
      say_what_is_computed(statement, callee, step);
    }
    if (statement.kind == StatementKind::kGivesCode) say_code_is_given(callee, step);
    return step;
  }

  static void say_code_is_given(std::string_view callee, StoryStep& step) {
    step.only_computes = false;
    const std::string low = small_letters(callee);
    if (holds(low, "dispatch") || holds(low, "switch")) {
      step.words = Phrase::kChoosesTypes;
    } else if (step.words.is(Phrase::kComputes) || step.words.is(Phrase::kCalls)) {
      step.words = Phrase::kCallsWithCode;
    }
  }

  bool launches(const Statement& statement, StoryStep& step) {
    const auto inside = [&](const KernelLauncher& launcher) {
      return launcher.at.file == body_.file && statement.line_first <= launcher.at.line &&
             launcher.at.line <= std::max(statement.line_first, line_of_last(statement));
    };
    if (statement.kind == StatementKind::kGivesCode) return false;
    if (context_.launcher != nullptr && inside(*context_.launcher)) {
      step = launch_step(context_);
      return true;
    }
    const SourceOutlines::LaunchPlaces& places = context_.sources.launches(context_.facts);
    const CodePlace from{body_.file, statement.line_first},
        to{body_.file, std::max(statement.line_first, line_of_last(statement))};
    const auto first =
        std::lower_bound(places.begin(), places.end(), from,
                         [](const auto& place, const CodePlace& at) { return place.first < at; });
    for (auto place = first; place != places.end() && place->first <= to; ++place) {
      if (place->second == context_.kernel) continue;
      step.words = Phrase::kLaunchesOther;
      step.code = {place->second->name};
      return true;
    }
    return false;
  }

  uint32_t line_of_last(const Statement& statement) const {
    return statement.last == 0 ? statement.line_last : code_.source.tokens[statement.last - 1].line;
  }

  void add_hits(const Statement& statement, StoryStep& step) const {
    for (const cpp::PatternHit& hit : body_.hits(statement, cpp::PatternScope::kHost)) {
      const StepPattern* pattern = step_pattern(hit.id);
      if (pattern == nullptr || hit.certainty == Certainty::kUnsure) continue;
      if (step.words.empty() && pattern->action) {
        step.words = Words(*pattern);
        step.certainty = hit.certainty;
      }
      if (hit.id != pattern_id::kNcclCollective) continue;
      // What it works on, and what is copied into and out of it.
      step.remarks.push_back({Phrase::kNone, hit.detail, {}, {}});
    }
  }

  // The first function that the statement calls: "RuntimeCheck" of host::RuntimeCheck(…).
  std::string_view first_callee(const Statement& statement) const {
    for (size_t i = statement.first; i + 1 < statement.last; ++i) {
      if (!code_.source.is_name(i)) continue;
      if (code_.is(i + 1, "(")) return code_.source.at(i);
      if (code_.is(i + 1, "=")) return {};
    }
    return {};
  }

  // The function whose call is the first argument of the first call.
  std::string_view inner_callee(const Statement& statement) const {
    for (size_t i = statement.first; i + 2 < statement.last; ++i) {
      if (!code_.source.is_name(i) || !code_.is(i + 1, "(")) continue;
      const cpp::Path path = cpp::path_from(code_, i + 2, statement.last);
      if (!path.valid() || !code_.is(path.all.last, "(")) return {};
      return code_.source.at(path.names.back());
    }
    return {};
  }

  void say_what_is_computed(const Statement& statement, std::string_view callee, StoryStep& step) {
    step.only_computes = true;
    const std::string& text = statement.text;
    const std::string kernel = context_.kernel == nullptr ? "" : context_.kernel->name;
    if (is_library_call(callee)) {
      step.words = Phrase::kCallsLibrary;
      step.only_computes = false;
    } else if (!kernel.empty() && holds(text, kernel)) {
      step.words = holds(text, "<<<") ? Phrase::kLaunchesHere
                   : holds(text, "?") ? Phrase::kChoosesLaunch
                                      : Phrase::kTakesKernel;
      step.only_computes = false;
    } else if (holds(text, "=")) {
      step.words = Phrase::kComputes;
      const auto value = launch_value(statement);
      if (value != nullptr) {
        step.words = Phrase::kComputesForLaunch;
        add_derived(context_, value->name, value->text, step);
      }
    } else {
      const bool sizes =
          text.starts_with("dim3 ") || text.starts_with("const dim3 ");  // source text
      step.words = sizes                            ? Phrase::kComputesForLaunch
                   : makes_object(code_, statement) ? Phrase::kMakes
                   : text.ends_with(")")            ? Phrase::kCalls
                                                    : Phrase::kComputes;
    }
  }

  const NamedValue* launch_value(const Statement& statement) const {
    if (context_.launcher == nullptr) return nullptr;
    for (const NamedValue& value : context_.launcher->values) {
      if (value.at.file == body_.file && value.at.line >= statement.line_first &&
          value.at.line <= statement.line_last && holds(statement.text, value.name))
        return &value;
    }
    return nullptr;
  }

  // A check that asks a function of the repository: what that one asks.
  void open_check(const Statement& statement, StoryStep& step) {
    const auto& calls = context_.facts.calls;
    const FunctionCall from{{body_.file, statement.line_first}, {}, {}};
    for (auto call = std::lower_bound(calls.begin(), calls.end(), from);
         call != calls.end() && call->at.file == body_.file &&
         call->at.line <= statement.line_last && levels_ > 0;
         ++call) {
      const CppBody* callee = context_.sources.cpp_function(call->to);
      if (callee == nullptr || callee->function == body_.function) continue;
      const std::string& name = callee->function->name;
      if (names_check(name) && !holds(name, "is_")) continue;
      const auto& statements = callee->statements;
      if (statements.size() != 1 || statements[0].kind != StatementKind::kReturn ||
          !holds(statement.text, name + "("))
        continue;
      const StepRemark remark{Phrase::kAsksThrough,
                              tidy_code(statements[0].text.substr(7), 260),
                              {callee->file, statements[0].line_first},
                              call->certainty};
      const bool known = std::any_of(step.remarks.begin(), step.remarks.end(),
                                     [&](const StepRemark& r) { return r.at == remark.at; });
      if (!known) step.remarks.push_back(remark);
    }
  }

  const HostContext& context_;
  const CppBody& body_;
  const cpp::Code& code_;
  int levels_;
};

std::string dimension_text(const HostContext& context, std::string_view what) {
  const auto value = context.parameters.evaluate_in(what, context.launcher->values);
  const std::string number = value ? fmt::format("{:g}", *value) : "";
  return value && number != what ? number : "";
}

void add_dimension(const HostContext& context, Phrase words, const std::string& text,
                   StoryStep& step) {
  if (text.empty()) return;
  step.remarks.push_back({words, tidy_code(text), {}, {}});
  const std::string number = dimension_text(context, text);
  if (number.empty()) return;
  step.remarks.back().derived = true;
  step.remarks.back().value = number;
}

}  // namespace

bool names_check(std::string_view name) {
  const std::string low = small_letters(last_name(name));
  return holds_any(low, {"check", "assert", "verify", "enforce", "require", "validate"});
}

void add_derived(const HostContext& context, std::string_view name, std::string_view text,
                 StoryStep& step) {
  const auto value = context.parameters.evaluate_in(text, context.launcher->values);
  if (!value || fmt::format("{:g}", *value) == text) return;
  step.remarks.push_back(
      {Phrase::kGivesValue, fmt::format("{} = {:g}", name, *value), {}, {}, true});
}

StoryStep launch_step(const HostContext& context) {
  const KernelLauncher& launcher = *context.launcher;
  StoryStep step;
  step.words = Phrase::kLaunches;
  step.code = {context.kernel->name};
  step.at = launcher.at;
  step.line_last = launcher.line_last;
  if (!launcher.via.empty())
    step.remarks.push_back({Phrase::kLaunchedThrough, launcher.via, {}, {}});
  add_dimension(context, Phrase::kLaunchGrid, launcher.grid, step);
  add_dimension(context, Phrase::kLaunchBlock, launcher.block, step);
  add_dimension(context, Phrase::kLaunchSharedMemory, launcher.shared_memory, step);
  if (!launcher.stream.empty())
    step.remarks.push_back({Phrase::kLaunchStream, tidy_code(launcher.stream), {}, {}});
  for (const LaunchAttribute& attribute : launcher.attributes) {
    step.remarks.push_back({Phrase::kNone, attribute_text(attribute), {}, {}});
    if (attribute.condition.empty()) continue;
    for (const NamedValue& value : launcher.values) {
      if (value.name != attribute.condition || (value.text != "true" && value.text != "false"))
        continue;
      step.remarks.push_back({value.text == "true" ? Phrase::kOnByDefault : Phrase::kOffByDefault,
                              value.name + " = " + value.text, value.at, Certainty::kLikely});
      break;
    }
  }
  step.certainty = launcher.certainty;
  return step;
}

std::vector<StoryStep> host_steps(const HostContext& context, const CppBody& body) {
  return HostTeller(context, body, 1).run();
}

}  // namespace fathom
