// What a plan tracks: metrics that the goal, the features and the kind of program ask for.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/count_text.h"
#include "base/tsv.h"
#include "plan/plan_draft.h"
#include "plan/plan_metrics.h"
#include "scan/features/feature_rules.h"

extern const std::string_view plan_asked_tsv;
extern const std::string_view plan_patterns_tsv;
extern const std::string_view plan_phases_tsv;

namespace fathom {
namespace {

// Rows of one table: more than an engineer reads are no plan.
constexpr size_t kMostRows = 12;

class Tracking {
 public:
  explicit Tracking(PlanDraft& draft) : draft_(draft) {}

  void run() {
    for (const std::string& metric : draft_.goal.metrics) add(metric, "requested by the goal", "");
    for (const uint32_t kernel : draft_.goal.kernels) add_kernel(draft_.facts.kernels[kernel]);
    for (const std::string& phase : draft_.goal.phases) add_phase(phase);
    for (const uint32_t feature : draft_.features) add_feature(draft_.facts.features[feature]);
    for (const std::string& feature : draft_.goal.absent_features) add_absent(feature);
    if (draft_.general) {
      for (const std::string_view phase : draft_.kind.phases) add_phase(phase);
      for (const std::string_view metric : draft_.kind.metrics)
        add(metric, fmt::format("most informative for a {} program", kind_words()), "");
    }
    for (const Question question : draft_.goal.reading.asked) add_question(question);
    for (const GoalConstraint& constraint : draft_.goal.reading.constraints) {
      if (constraint.kind == ConstraintKind::kAccuracy)
        add("accuracy", fmt::format("the goal requires '{}'", constraint.said), "");
    }
    bound();
  }

 private:
  std::string_view kind_words() const {
    return draft_.kind.name == "kernels" ? "kernel" : draft_.kind.name;
  }

  void add(std::string_view id, const std::string& why, const std::string& where) {
    const PlanMetric* metric = find_plan_metric(id);
    if (metric == nullptr || !belongs(*metric)) return;
    const auto found = std::ranges::find(draft_.tracked, id, &Tracked::metric);
    if (found != draft_.tracked.end()) {
      ++found->others;
      return;
    }
    draft_.tracked.push_back({std::string(id), why, where, 0});
  }
  // A number of a serving engine says nothing of a kernel library; GPU metrics nothing of a host
  // program.
  bool belongs(const PlanMetric& metric) const {
    const bool host_metric = metric.record == "run" || metric.record == "--probe" ||
                             metric.record == "--log-pattern" ||
                             metric.level == Level::kApplication;
    if (!draft_.gpu && !host_metric) return false;
    if (metric.programs.empty()) return true;
    return std::ranges::any_of(metric.programs, [&](std::string_view component) {
      return std::ranges::find(draft_.facts.components, component, &ComponentFacts::id) !=
             draft_.facts.components.end();
    });
  }

  void add_kernel(const KernelFacts& kernel) {
    const std::string where = draft_.place({kernel.at.file, kernel.line_name});
    for (const char* metric : {"kernel_duration", "kernel_share", "sm_throughput",
                               "dram_throughput", "occupancy", "stall_long_scoreboard"})
      add(metric, fmt::format("the goal names {}", kernel.name), where);
    for (const auto& row : read_tsv(plan_patterns_tsv, 3)) {
      for (const std::string_view pattern : split(row[0], ' ')) {
        const auto found = std::ranges::find(kernel.evidence, pattern, &CodeEvidence::what);
        if (found == kernel.evidence.end()) continue;
        add(row[1], fmt::format("{}: {}", kernel.name, row[2]), draft_.place(found->at));
        break;
      }
    }
  }

  void add_feature(const FeatureFacts& feature) {
    const std::string where = feature.evidence.empty() ? "" : draft_.place(feature.evidence[0].at);
    for (const MetricFacts& metric : feature.metrics)
      add(metric.id, fmt::format("{}: {}", feature.title, feature.concern), where);
    // The number that would contradict the feature.
    if (const FeatureQuestion question = feature_question(feature.id); !question.metric.empty())
      add(question.metric, fmt::format("{}: {}", feature.title, question.surprise), where);
  }

  // "would FP8 help" of code without it: the numbers that it would change tell what there is to
  // gain.
  void add_absent(std::string_view id) {
    const FeatureRules& rules = FeatureRules::built_in();
    for (const FeatureRule& rule : rules.features()) {
      if (rule.id != id) continue;
      for (const uint32_t metric : rule.metrics)
        add(rules.metrics()[metric].id,
            fmt::format("what {}, which the code does not have, would change", rule.title), "");
    }
  }

  void add_phase(std::string_view name) {
    for (const auto& row : read_tsv(plan_phases_tsv, 4)) {
      if (row[0] != name) continue;
      for (const std::string_view metric : split(row[1], ' '))
        add(metric, fmt::format("{}: {}", name, row[2]), "");
    }
  }

  void add_question(Question question) {
    for (const auto& row : read_tsv(plan_asked_tsv, 4)) {
      if (row[0] != question_name(question) || (row[1] == "gpu") != draft_.gpu) continue;
      for (const std::string_view metric : split(row[2], ' ')) add(metric, std::string(row[3]), "");
    }
  }

  void bound() {
    std::array<size_t, 3> rows = {};
    std::array<size_t, 3> dropped = {};
    std::vector<Tracked> kept;
    for (Tracked& one : draft_.tracked) {
      const auto level = static_cast<size_t>(find_plan_metric(one.metric)->level);
      if (rows[level] == kMostRows) {
        ++dropped[level];
        continue;
      }
      ++rows[level];
      kept.push_back(std::move(one));
    }
    draft_.tracked = std::move(kept);
    for (size_t level = 0; level < 3; ++level) {
      if (dropped[level] == 0) continue;
      draft_.plan.left_out.push_back(fmt::format(
          "{} of the {} table, beyond {} rows; a goal that names a feature or kernel "
          "gets them",
          counted(dropped[level], "metric"), level_name(static_cast<Level>(level)), kMostRows));
    }
  }

  PlanDraft& draft_;
};

}  // namespace

bool PlanDraft::tracks(std::string_view metric) const {
  return std::ranges::find(tracked, metric, &Tracked::metric) != tracked.end();
}

bool PlanDraft::has_feature(std::string_view id) const {
  return std::ranges::find(facts.features, id, &FeatureFacts::id) != facts.features.end();
}

bool PlanDraft::may_use(std::string_view record_option) const {
  return std::ranges::find(goal.left_out, record_option) == goal.left_out.end();
}

std::vector<std::string_view> phase_features(std::string_view phase) {
  for (const auto& row : read_tsv(plan_phases_tsv, 4)) {
    if (row[0] == phase) return split(row[3], ' ');
  }
  return {};
}

void choose_tracked(PlanDraft& draft) { Tracking(draft).run(); }

}  // namespace fathom
