// The sections of a plan that follow from its requirements and experiments.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/count_text.h"
#include "base/tsv.h"
#include "plan/goal_words.h"
#include "plan/plan_draft.h"
#include "plan/plan_metrics.h"

extern const std::string_view plan_questions_tsv;

namespace fathom {
namespace {

constexpr size_t kMostQuestions = 8;

// The goal's words for the hardware against the platform that the plan is for.
void tell_platform(const PlanDraft& draft, std::vector<std::string>& open) {
  const std::string planned = draft.platform != nullptr ? draft.platform->name : "";
  for (const std::string& name : draft.goal.ambiguous) {
    if (planned.empty())
      open.push_back(fmt::format(
          "'{}' is several platforms; give --platform (fathom platforms lists them).", name));
    else if (!squashed(planned).starts_with(squashed(name)))
      open.push_back(
          fmt::format("The goal names {}; the plan is for {}, the platform given.", name, planned));
  }
  if (!draft.goal.platform.empty() && !planned.empty() && draft.goal.platform != planned)
    open.push_back(fmt::format("The goal names {}; the plan is for {}, the platform given.",
                               draft.goal.platform, planned));
}

}  // namespace

void interpret(PlanDraft& draft) {
  auto& questions = draft.plan.goal.interpreted;
  const auto add = [&](std::string text) {
    if (questions.size() < kMostQuestions && std::ranges::find(questions, text) == questions.end())
      questions.push_back(std::move(text));
  };
  const std::string gpu = draft.platform != nullptr ? draft.platform->name : "the GPU";
  for (const uint32_t position : draft.goal.kernels) {
    const KernelFacts& kernel = draft.facts.kernels[position];
    add(fmt::format("What limits {} ({}), and how far is it from the limit of {}?", kernel.name,
                    draft.place({kernel.at.file, kernel.line_name}), gpu));
  }
  for (const std::string& phase : draft.goal.phases)
    add(fmt::format(
        "Which kernels does {} run, how long does one {} step take, and what limits it?", phase,
        phase));
  for (const uint32_t position : draft.features) {
    const FeatureFacts& feature = draft.facts.features[position];
    const FeatureQuestion known = feature_question(feature.id);
    add(fmt::format("{}: {}", feature.title,
                    known.question.empty() ? "what does it cost? " + feature.concern
                                           : std::string(known.question)));
  }
  for (const std::string& metric : draft.goal.metrics) {
    if (!draft.tracks(metric)) continue;
    add(fmt::format(
        "{}: how large is it over the run, not only on average, and what does it depend on?",
        find_plan_metric(metric)->title));
  }
  if (draft.goal.asks(Question::kRegression))
    add("Which kernels, how many launches and how much idle time differ between the two versions?");
  if (questions.empty()) {
    add(draft.gpu ? "Where does the time go: which kernels, which idle time, what on the host?"
                  : "Where does the time go on the CPU, and how much memory is used?");
  }
  for (const uint32_t position : draft.features) {
    const FeatureFacts& feature = draft.facts.features[position];
    std::string metrics;
    size_t listed = 0;
    for (const MetricFacts& metric : feature.metrics) {
      if (!draft.tracks(metric.id) || listed == 4) continue;
      metrics += (listed++ > 0 ? ", " : "") + metric.title;
    }
    if (metrics.empty()) continue;
    draft.plan.goal.informed_by.push_back(
        {feature.title, metrics,
         feature.evidence.empty() ? "" : draft.place(feature.evidence[0].at)});
  }
  for (const Requirement& row : draft.plan.requirements) {
    const auto phase = std::ranges::find_if(draft.goal.phases, [&](const std::string& name) {
      return row.metric == "function_time" && draft.is_probed_for(row, SubjectKind::kPhase, name);
    });
    if (phase != draft.goal.phases.end() && !row.names.empty())
      draft.plan.goal.informed_by.push_back({"phase " + *phase, row.names[0], row.where});
  }
}

void write_analysis(PlanDraft& draft) {
  auto& steps = draft.plan.analysis;
  const auto id_of = [&](ExperimentKind kind) -> std::string {
    for (const Experiment& one : draft.plan.experiments) {
      if (one.kind == kind) return one.id;
    }
    return "";
  };
  const std::string baseline = id_of(ExperimentKind::kBaseline);
  const std::string counters = id_of(ExperimentKind::kCounters);
  const std::string stalls = id_of(ExperimentKind::kStalls);
  if (!baseline.empty() && !draft.amd) {
    steps.push_back(
        fmt::format("Extract phases, kernels and idle time: fathom analyze {0}.capture; the "
                    "execution story: fathom "
                    "story {0}.capture.",
                    baseline));
  } else if (!baseline.empty()) {
    steps.push_back(
        fmt::format("Extract kernels and idle time: fathom analyze TRACE, with the trace that "
                    "rocprofv3 wrote in {}.",
                    baseline));
  }
  if (!counters.empty() && !draft.amd) {
    steps.push_back(fmt::format(
        "Compare counters with what the code predicts: fathom scan {} --counters {}.capture.",
        draft.plan.repository, counters));
  }
  if (!stalls.empty())
    steps.push_back(
        fmt::format("Rank stall reasons by source line: fathom analyze {}.capture, "
                    "stall_samples.csv.",
                    stalls));
  for (const Experiment& one : draft.plan.experiments) {
    if (one.configurations.size() < 2) continue;
    std::string names;
    for (const Configuration& configuration : one.configurations)
      names += (names.empty() ? "" : ", ") + configuration.name;
    steps.push_back(
        fmt::format("Compare {} ({}): medians with confidence intervals; a difference below the "
                    "noise is no difference.",
                    one.id, names));
    const bool numbers =
        std::ranges::all_of(one.configurations, [](const Configuration& configuration) {
          double number = 0;
          return !configuration.settings.empty() &&
                 read_number(configuration.settings[0].second, number);
        });
    if (numbers && one.configurations.size() > 2)
      steps.push_back(fmt::format("Fit time against {} in {} and look at the residuals.",
                                  one.configurations[0].settings[0].first, one.id));
  }
  if (!draft.features.empty()) {
    const FeatureFacts& feature = draft.facts.features[draft.features[0]];
    steps.push_back(fmt::format(
        "Correlate each feature with the hardware: compare {} at {} with its metrics, then the "
        "others.",
        feature.title, feature.evidence.empty() ? "" : draft.place(feature.evidence[0].at)));
  }
  steps.emplace_back(
      "Stop when the success criteria are met, or when a surprise contradicts a hypothesis: then "
      "plan again.");
}

void write_success(PlanDraft& draft) {
  // A question is answered when the metrics that it needs were measured.
  const auto measured_by = [&](std::string_view metric) -> std::string {
    for (const Requirement& row : draft.plan.requirements) {
      if (row.metric == metric && !row.experiments.empty()) return row.experiments[0];
    }
    return "";
  };
  auto& success = draft.plan.success;
  for (const uint32_t position : draft.features) {
    const FeatureFacts& feature = draft.facts.features[position];
    for (const MetricFacts& metric : feature.metrics) {
      const std::string experiment = measured_by(metric.id);
      if (experiment.empty()) continue;
      const FeatureQuestion known = feature_question(feature.id);
      success.push_back(
          {CriterionKind::kMeasured,
           fmt::format("Answered: {}: {}", feature.title,
                       known.question.empty() ? feature.concern : std::string(known.question)),
           experiment, metric.id, "", std::nullopt, ""});
      break;
    }
  }
  for (const uint32_t position : draft.goal.kernels) {
    const std::string experiment = measured_by("sm_throughput");
    if (experiment.empty()) break;
    const KernelFacts& kernel = draft.facts.kernels[position];
    success.push_back(
        {CriterionKind::kMeasured, fmt::format("Identified: what limits {}", kernel.name),
         experiment, "sm_throughput",
         kernel.profiler_name.empty() ? kernel.name : kernel.profiler_name, std::nullopt, ""});
  }
  for (const std::string& metric : draft.goal.metrics) {
    const std::string experiment = measured_by(metric);
    if (experiment.empty()) continue;
    success.push_back({CriterionKind::kMeasured,
                       fmt::format("Answered: {}", find_plan_metric(metric)->title), experiment,
                       metric, "", std::nullopt, ""});
  }
  for (const GoalConstraint& constraint : draft.goal.reading.constraints) {
    double tolerance = 0;
    if (constraint.kind != ConstraintKind::kAccuracy || !read_number(constraint.value, tolerance))
      continue;
    success.push_back({CriterionKind::kAtMost,
                       fmt::format("Results stay within the limit: {}", constraint.said), "",
                       "accuracy", "", tolerance, "error"});
  }
  if (success.empty() && !draft.plan.experiments.empty()) {
    const Experiment& last = draft.plan.experiments.back();
    success.push_back({CriterionKind::kMeasured, "Answered: " + draft.plan.goal.interpreted[0],
                       last.id, "wall_time", "", std::nullopt, ""});
  }
}

void write_surprises(PlanDraft& draft) {
  for (const uint32_t position : draft.features) {
    const FeatureFacts& feature = draft.facts.features[position];
    const FeatureQuestion known = feature_question(feature.id);
    if (known.surprise.empty() || !draft.tracks(known.metric)) continue;
    const PlanMetric& metric = *find_plan_metric(known.metric);
    if (metric.level == Level::kHardware && !draft.amd && !counters_on(metric, draft.chip).exists())
      continue;
    Surprise surprise;
    surprise.text = fmt::format("{}: {}", feature.title, known.surprise);
    surprise.look_at = known.look_at;
    surprise.metric = known.metric;
    surprise.unit = metric.unit;
    double number = 0;
    if (read_number(known.below, number)) surprise.below = number;
    if (read_number(known.above, number)) surprise.above = number;
    draft.plan.surprises.push_back(std::move(surprise));
  }
  const bool estimated = std::ranges::any_of(draft.plan.experiments, [](const Experiment& one) {
    return std::ranges::any_of(one.expected, [](const ExpectedObservation& expected) {
      return expected.metric == "kernel_duration" && expected.low;
    });
  });
  if (estimated) {
    draft.plan.surprises.push_back(
        {"A kernel is outside the time estimated from its source.",
         "bytes moved against bytes expected: fathom scan --counters names the "
         "likeliest reason",
         "kernel_duration", "", std::nullopt, std::nullopt, "s"});
  }
}

void write_open(PlanDraft& draft) {
  auto& open = draft.plan.open;
  const GoalReading& goal = draft.goal.reading;
  if (!draft.goal.understood) open.insert(open.begin(), kNothingUnderstood);
  if (!goal.unread.empty()) {
    std::string words;
    for (const std::string& word : goal.unread) words += (words.empty() ? "" : ", ") + word;
    open.push_back("Not understood in the goal, and not used: " + words);
  }
  for (const std::string& title : draft.goal.absent)
    open.push_back(
        fmt::format("The goal names {}, which the scan did not find in the code.", title));
  for (const std::string& said : draft.goal.impossible)
    open.push_back(fmt::format("The limit '{}' is not a possible run time and is ignored.", said));
  tell_platform(draft, open);
  if (draft.gpu && draft.platform == nullptr)
    open.emplace_back(
        "The GPU is unknown: counters are those that all chips have, and nothing is estimated.");
  if (draft.host_in_gpu_repository)
    open.push_back(
        draft.goal.host_only
            ? std::string("The goal is about the CPU: no GPU work is expected or recorded.")
            : fmt::format("{} has no GPU code: the plan measures CPU time and memory only. "
                          "For the kernels, name one in the goal.",
                          draft.facts.files[*draft.program.file].path));
  else if (!draft.gpu)
    open.emplace_back(
        "No GPU code was found in this repository: no kernel and no GPU library with a technique "
        "that the "
        "scan knows. The plan measures CPU time and memory only.");
  if (draft.goal.kernels_named > draft.goal.kernels.size())
    open.push_back(fmt::format("{} kernels fit the goal's words; the first {} are planned for.",
                               draft.goal.kernels_named, draft.goal.kernels.size()));
  if (!draft.program.found()) {
    open.emplace_back(
        "No program to run was found: no entry point and no documented command. Give one with "
        "--command.");
  } else if (std::ranges::any_of(draft.program.command, is_placeholder)) {
    open.push_back("The command is not complete: " + draft.program.prepare);
  }
  if (draft.goal.asks(Question::kComparison)) {
    const bool compares = std::ranges::any_of(draft.plan.experiments, [](const Experiment& one) {
      return one.configurations.size() > 1;
    });
    if (!compares && draft.goal.kernels.size() < 2)
      open.emplace_back(
          "What to compare with? No option of the program has the alternatives: add configurations "
          "to "
          "plan.toml, or compare commands with fathom bench.");
  }
}

}  // namespace fathom
