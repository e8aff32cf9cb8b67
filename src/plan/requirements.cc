#include <fmt/format.h>

#include <algorithm>

#include "base/count_text.h"
#include "plan/chosen_probes.h"
#include "plan/plan_draft.h"
#include "plan/plan_metrics.h"
#include "scan/features/feature_rules.h"

namespace fathom {
namespace {

constexpr size_t kMostProbes = 8, kMostPatterns = 8;

class RequirementRows {
 public:
  explicit RequirementRows(PlanDraft& draft) : draft_(draft) {}

  void run() {
    for (const Level level : {Level::kHardware, Level::kProcess, Level::kApplication}) {
      for (const Tracked& tracked : draft_.tracked) {
        const PlanMetric& metric = *find_plan_metric(tracked.metric);
        if (metric.level == level) add(metric, tracked);
      }
    }
    for (const std::string& phase : draft_.goal.phases) add_phase_probes(phase);
    for (const uint32_t feature : draft_.features) add_feature_probes(feature);
    if (draft_.program.python || draft_.gpu) return;
    add_host_probes();
  }

 private:
  void add(const PlanMetric& metric, const Tracked& tracked) {
    Requirement row;
    row.level = metric.level;
    row.metric = metric.id;
    row.title = metric.title;
    row.why = tracked.why;
    if (tracked.others > 0)
      row.why += fmt::format(" (and {})", counted(tracked.others, "further reason"));
    if (metric.level == Level::kHardware) {
      put_hardware(metric, row);
    } else if (metric.level == Level::kProcess) {
      row.how = metric.how;
      row.where = "";
    } else {
      put_application(metric, row);
    }
    draft_.plan.requirements.push_back(std::move(row));
  }

  void put_hardware(const PlanMetric& metric, Requirement& row) {
    if (draft_.amd) {
      for (const std::string_view name : metric.amd) row.names.emplace_back(name);
      if (row.names.empty()) {
        row.how =
            fmt::format("not available: no counter of rocprofv3 is known for {}", metric.title);
        return;
      }
      row.how = "rocprofv3 --pmc";
      for (const std::string& name : row.names) row.how += " " + name;
      row.how += fmt::format(" -- COMMAND; {}", how_on_all(metric.how, metric.amd_how));
      return;
    }
    const std::string then = metric.how.empty() ? "" : fmt::format("; {}", metric.how);
    ChipCounters counters = counters_on(metric, draft_.chip);
    row.names = std::move(counters.names);
    row.passes = counters.passes;
    row.set = counters.set;
    if (metric.record == "--pm-sampling") row.set = "sampling";
    if (row.names.empty()) {
      row.set.clear();
      row.how = draft_.chip.empty() ? "not on all chips: give --platform for the names of one"
                                    : fmt::format("not available on {}", draft_.platform->name);
    } else if (row.set == "sampling") {
      row.how = "fathom record --pm-sampling" + then;
    } else if (row.set.empty()) {
      row.how = "ncu --metrics ";
      for (size_t i = 0; i < row.names.size(); ++i) row.how += (i > 0 ? "," : "") + row.names[i];
      row.how += ": in no set of fathom record" + then;
    } else {
      const bool several = row.passes.value_or(1) > 1;
      row.how =
          fmt::format("fathom record --counters={}{}{}", row.set, several ? " --replay" : "", then);
    }
  }

  void put_application(const PlanMetric& metric, Requirement& row) {
    row.how = metric.how;
    for (const LogLine& line : draft_.sources.logs) {
      if (std::ranges::find(line.metrics, metric.id) == line.metrics.end()) continue;
      // What the program itself prints, before what others of the repository print.
      const bool own = draft_.program.file && line.at.file == *draft_.program.file;
      if (!own && is_other_program(line.at.file)) continue;
      if (!row.names.empty() && !own) continue;
      row.names = {line.pattern};
      row.where = draft_.place(line.at);
      if (own) break;
    }
    if (!row.names.empty()) {
      add_pattern(row.names[0]);
      row.how = fmt::format("the code prints it: {}", metric.how);
      return;
    }
    const bool may_probe = draft_.may_use("--probe") && metric.record != "--log-pattern";
    const std::vector<ChosenProbe> chosen =
        may_probe ? probes_for(draft_, metric.id) : std::vector<ChosenProbe>{};
    if (!chosen.empty()) {
      const ProbePlace& place = *chosen[0].place;
      row.names = {place.probe};
      row.where = draft_.place(place.at);
      row.how = fmt::format("{}; {}", chosen[0].what, metric.how);
      add_probe(place.probe);
      return;
    }
    const std::string_view component =
        metric.programs.empty() ? std::string_view() : metric.programs[0];
    const auto& all = draft_.facts.components;
    const auto part = std::ranges::find(all, component, &ComponentFacts::id);
    row.where =
        part == all.end() || part->evidence.empty() ? "" : draft_.place(part->evidence[0].at);
    // The time of a call is neither: it ends with the last token, or begins with each one.
    if (metric.id == "ttft" || metric.id == "itl") {
      row.how =
          fmt::format("no log line prints it. fathom run takes it from the {} of the capture{}",
                      metric.id == "ttft" ? "prefill phases" : "decode steps",
                      metric.id == "ttft" ? ", without the time in queues" : "");
      if (draft_.program.server)
        row.how += fmt::format("; a client that streams measures it whole: {}", kLoadScript);
      return;
    }
    row.how = fmt::format(
        "no log line or function for it was found; print it and add --log-pattern: {}", metric.how);
  }

  bool is_other_program(uint32_t file) const {
    return std::ranges::any_of(draft_.facts.entry_points, [&](const EntryPoint& entry) {
      return entry.at.file == file && entry.kind != EntryKind::kHttpRoute;
    });
  }

  // The functions that run a phase; where no name tells, what launches the kernels.
  void add_phase_probes(const std::string& phase) {
    if (!draft_.may_use("--probe")) return;
    std::vector<ChosenProbe> chosen = probes_for(draft_, phase);
    if (chosen.empty()) chosen = probes_on_path(draft_);
    constexpr size_t kMostOfPhase = 2;
    if (chosen.size() > kMostOfPhase) chosen.resize(kMostOfPhase);
    for (const auto& [place, what] : chosen) {
      if (!add_probe(place->probe)) return;
      Requirement row = function_time(place->probe, place->at);
      row.title = fmt::format("{}: {}", phase, what);
      row.why = fmt::format("the goal names {}", phase);
      draft_.probed_for.push_back({place->probe, SubjectKind::kPhase, phase});
      for (GoalSubject& subject : draft_.plan.goal.subjects) {
        if (subject.kind == SubjectKind::kPhase && subject.id == phase && subject.where.empty())
          subject.where = row.where;
      }
      draft_.plan.requirements.push_back(std::move(row));
    }
  }

  // What a feature does on the host, call by call.
  void add_feature_probes(uint32_t position) {
    const FeatureFacts& feature = draft_.facts.features[position];
    if (!draft_.may_use("--probe")) return;
    for (const auto& [place, what] : probes_for(draft_, feature.id)) {
      if (std::ranges::find(draft_.probes, place->probe) != draft_.probes.end()) continue;
      if (!add_probe(place->probe)) return;
      Requirement row = function_time(place->probe, place->at);
      row.title = fmt::format("{}: {}", feature.title, what);
      row.why = std::string(feature.concern);
      draft_.probed_for.push_back({place->probe, SubjectKind::kFeature, std::string(feature.id)});
      draft_.plan.requirements.push_back(std::move(row));
    }
  }

  void add_host_probes() {
    for (const HostFacts& host : draft_.facts.host_functions) {
      const std::string probe = native_probe_of(host);
      if (probe.empty() || host.evidence.empty() || !draft_.may_use("--probe")) continue;
      if (!add_probe(probe)) return;
      Requirement row = function_time(probe, host.at);
      row.title = host.name;
      row.why = "a function of the host that the scan singles out: " + host.evidence[0].what;
      draft_.plan.requirements.push_back(std::move(row));
    }
  }

  Requirement function_time(const std::string& probe, const CodePlace& at) const {
    Requirement row;
    row.level = Level::kApplication;
    row.metric = "function_time";
    row.names = {probe};
    row.how = "median, p95 and p99 of its calls";
    row.where = draft_.place(at);
    return row;
  }

  bool add_probe(const std::string& probe) {
    if (draft_.probes.size() == kMostProbes) return false;
    if (std::ranges::find(draft_.probes, probe) == draft_.probes.end())
      draft_.probes.push_back(probe);
    return true;
  }
  void add_pattern(const std::string& pattern) {
    if (draft_.log_patterns.size() == kMostPatterns) return;
    if (std::ranges::find(draft_.log_patterns, pattern) == draft_.log_patterns.end())
      draft_.log_patterns.push_back(pattern);
  }

  PlanDraft& draft_;
};

}  // namespace

void write_requirements(PlanDraft& draft) { RequirementRows(draft).run(); }

void assign_requirements(PlanDraft& draft) {
  for (Requirement& row : draft.plan.requirements) {
    for (const Experiment& experiment : draft.plan.experiments) {
      const auto measures = [&](const ExpectedObservation& one) {
        return one.metric == row.metric;
      };
      bool measured = std::ranges::any_of(experiment.expected, measures);
      const std::string probe = row.names.empty() ? "" : row.names[0];
      if (row.metric == "function_time" && !probe.empty())
        measured = std::ranges::find(experiment.record, probe) != experiment.record.end();
      if (row.set == "sampling")
        measured = std::ranges::find(experiment.record, "--pm-sampling") != experiment.record.end();
      if (measured) row.experiments.push_back(experiment.id);
    }
  }
}

}  // namespace fathom
