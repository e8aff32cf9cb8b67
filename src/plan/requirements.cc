#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/count_text.h"
#include "base/glob.h"
#include "base/tsv.h"
#include "plan/plan_draft.h"
#include "plan/plan_metrics.h"
#include "scan/features/feature_rules.h"

extern const std::string_view plan_asked_tsv;
extern const std::string_view plan_patterns_tsv;
extern const std::string_view plan_phases_tsv;
extern const std::string_view plan_probes_tsv;

namespace fathom {
namespace {

// Rows of one table: more than an engineer reads are no plan.
constexpr size_t kMostRows = 12;
constexpr size_t kMostProbes = 8, kMostPatterns = 8;

class Tracking {
 public:
  explicit Tracking(PlanDraft& draft) : draft_(draft) {}

  void run() {
    for (const std::string& metric : draft_.goal.metrics) add(metric, "asked for by the goal", "");
    for (const uint32_t kernel : draft_.goal.kernels) add_kernel(draft_.facts.kernels[kernel]);
    for (const std::string& phase : draft_.goal.phases) add_phase(phase);
    for (const uint32_t feature : draft_.features) add_feature(draft_.facts.features[feature]);
    if (draft_.general) {
      for (const std::string_view phase : draft_.kind.phases) add_phase(phase);
      for (const std::string_view metric : draft_.kind.metrics)
        add(metric, fmt::format("tells most of a {} program", kind_words()), "");
    }
    for (const Question question : draft_.goal.reading.asked) add_question(question);
    for (const GoalConstraint& constraint : draft_.goal.reading.constraints) {
      if (constraint.kind == ConstraintKind::kAccuracy)
        add("accuracy", fmt::format("the goal asks for '{}'", constraint.said), "");
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

// Where the files of a feature or component are: a probe elsewhere is a namesake.
std::set<uint32_t> files_of(const PlanDraft& draft, std::string_view id) {
  std::set<uint32_t> files;
  for (const FeatureFacts& feature : draft.facts.features) {
    if (feature.id != id) continue;
    for (const RuleEvidence& evidence : feature.evidence) files.insert(evidence.at.file);
  }
  return files;
}

// Functions to probe for a feature or metric, by data/plan/probes.tsv: the first alternative that
// the code has, in the file with the feature's evidence where there is one.
std::vector<const ProbePlace*> probes_for(const PlanDraft& draft, std::string_view id,
                                          std::vector<std::string_view>* what) {
  std::vector<const ProbePlace*> out;
  const std::set<uint32_t> files = files_of(draft, id);
  for (const auto& row : read_tsv(plan_probes_tsv, 4)) {
    if (row[0] != id) continue;
    const ProbePlace* best = nullptr;
    bool best_is_near = false;
    for (const std::string_view function : split(row[2], '|')) {
      for (const std::string_view scope : split(row[1], '|')) {
        for (const ProbePlace& place : draft.sources.functions) {
          if (place.function.empty() || !glob_matches(function, place.function)) continue;
          const bool of_scope =
              place.scope.empty() ? scope == "-" : scope != "-" && glob_matches(scope, place.scope);
          const bool stands_in =
              place.scope.starts_with("base") || place.scope.starts_with("abstract") ||
              place.scope.find("no_") != std::string::npos || place.scope.starts_with("mock") ||
              place.scope.starts_with("dummy");
          if (!of_scope || stands_in) continue;
          const bool near = files.contains(place.at.file);
          // Of several the shortest name: MambaRadixCache is a special RadixCache.
          const bool is_general =
              best != nullptr && near == best_is_near && place.scope.size() < best->scope.size();
          if (best != nullptr && !is_general && (best_is_near || !near)) continue;
          best = &place;
          best_is_near = near;
        }
        if (best != nullptr) break;
      }
      if (best != nullptr) break;
    }
    if (best == nullptr || std::ranges::find(out, best) != out.end()) continue;
    out.push_back(best);
    if (what != nullptr) what->push_back(row[3]);
  }
  return out;
}

// A C++ function of the host, by its name with scope.
std::string native_probe_of(const HostFacts& host) {
  const std::string name = host.scope.empty() ? host.name : host.scope + "::" + host.name;
  const bool plain = std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == ':';
  });
  return plain && name.size() < 120 ? "c:" + name : "";
}

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

  // Without what the table says of AMD's counters.
  static std::string nvidia_words(std::string_view how) {
    const size_t amd = how.find("AMD:");
    if (amd == std::string_view::npos) return std::string(how);
    how = how.substr(0, amd);
    while (how.ends_with(' ') || how.ends_with(';')) how.remove_suffix(1);
    return std::string(how);
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
      row.how += fmt::format(" -- COMMAND; {}", metric.how);
      return;
    }
    const std::string words = nvidia_words(metric.how);
    const std::string then = words.empty() ? "" : "; " + words;
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
    std::vector<std::string_view> what;
    const bool may_probe = draft_.may_use("--probe") && metric.record != "--log-pattern";
    const std::vector<const ProbePlace*> places =
        may_probe ? probes_for(draft_, metric.id, &what) : std::vector<const ProbePlace*>{};
    if (!places.empty()) {
      row.names = {places[0]->probe};
      row.where = draft_.place(places[0]->at);
      row.how = fmt::format("{}; {}", what[0], metric.how);
      add_probe(places[0]->probe);
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

  // The functions that run a phase; where no name tells, the last steps of the request path that
  // can be probed: what launches the kernels.
  void add_phase_probes(const std::string& phase) {
    if (!draft_.may_use("--probe")) return;
    std::vector<std::string_view> what;
    std::vector<const ProbePlace*> places = probes_for(draft_, phase, &what);
    if (places.empty()) {
      places = probes_on_path();
      what.assign(places.size(), "on the way of a request to the kernels: time of each call");
    }
    constexpr size_t kMostOfPhase = 2;
    for (size_t i = 0; i < std::min(places.size(), kMostOfPhase); ++i) {
      if (!add_probe(places[i]->probe)) return;
      Requirement row;
      row.level = Level::kApplication;
      row.metric = "function_time";
      row.title = fmt::format("{}: {}", phase, what[i]);
      row.names = {places[i]->probe};
      row.why = fmt::format("the goal names {}", phase);
      row.how = "median, p95 and p99 of its calls";
      row.where = draft_.place(places[i]->at);
      for (GoalSubject& subject : draft_.plan.goal.subjects) {
        if (subject.kind == SubjectKind::kPhase && subject.id == phase && subject.where.empty())
          subject.where = row.where;
      }
      draft_.plan.requirements.push_back(std::move(row));
    }
  }

  std::vector<const ProbePlace*> probes_on_path() const {
    const RequestPath* best = nullptr;
    for (const RequestPath& path : draft_.facts.request_paths) {
      if (best == nullptr || path.kernels_reached > best->kernels_reached) best = &path;
    }
    std::vector<const ProbePlace*> out;
    if (best == nullptr) return out;
    for (size_t i = best->hops.size(); i-- > 0;) {
      for (const ProbePlace& place : draft_.sources.functions) {
        if (place.at.file == best->hops[i].at.file && place.at.line == best->hops[i].at.line &&
            std::ranges::find(out, &place) == out.end())
          out.push_back(&place);
      }
    }
    return out;
  }

  // What a feature does on the host, call by call.
  void add_feature_probes(uint32_t position) {
    const FeatureFacts& feature = draft_.facts.features[position];
    if (!draft_.may_use("--probe")) return;
    std::vector<std::string_view> what;
    const std::vector<const ProbePlace*> places = probes_for(draft_, feature.id, &what);
    for (size_t i = 0; i < places.size(); ++i) {
      if (std::ranges::find(draft_.probes, places[i]->probe) != draft_.probes.end()) {
        continue;
      }
      if (!add_probe(places[i]->probe)) return;
      Requirement row;
      row.level = Level::kApplication;
      row.metric = "function_time";
      row.title = fmt::format("{}: {}", feature.title, what[i]);
      row.names = {places[i]->probe};
      row.why = std::string(feature.concern);
      row.how = "median, p95 and p99 of its calls";
      row.where = draft_.place(places[i]->at);
      draft_.plan.requirements.push_back(std::move(row));
    }
  }

  void add_host_probes() {
    for (const HostFacts& host : draft_.facts.host_functions) {
      const std::string probe = native_probe_of(host);
      if (probe.empty() || host.evidence.empty() || !draft_.may_use("--probe")) continue;
      if (!add_probe(probe)) return;
      Requirement row;
      row.level = Level::kApplication;
      row.metric = "function_time";
      row.title = host.name;
      row.names = {probe};
      row.why = "a function of the host that the scan singles out: " + host.evidence[0].what;
      row.how = "median, p95 and p99 of its calls";
      row.where = draft_.place(host.at);
      draft_.plan.requirements.push_back(std::move(row));
    }
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
