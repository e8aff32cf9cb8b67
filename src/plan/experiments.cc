#include <fmt/format.h>

#include <algorithm>

#include "base/count_text.h"
#include "base/tsv.h"
#include "plan/experiment_parts.h"
#include "plan/goal_words.h"
#include "plan/plan_draft.h"
#include "plan/plan_metrics.h"

extern const std::string_view plan_first_calls_tsv;

namespace fathom {
namespace {

class ExperimentWriter {
 public:
  explicit ExperimentWriter(PlanDraft& draft) : draft_(draft) {}

  void run() {
    if (!draft_.program.found()) return;
    add_smoke();
    if (!draft_.gpu) {
      add_host();
    } else {
      add_baseline();
      add_counters();
      add_stalls();
    }
    write_sweeps(draft_);
    if (draft_.gpu) add_first_call();
    if (draft_.goal.asks(Question::kRegression)) add_other_version();
    for (Experiment& experiment : draft_.plan.experiments) {
      if (experiment.ends_by_limit) fit_server(experiment);
    }
  }

 private:
  // A server runs for as long as its limit: its wall time shows nothing, and no run is short.
  void fit_server(Experiment& experiment) const {
    constexpr int64_t kServerRuns = 3;
    experiment.repetitions = std::min(experiment.repetitions, kServerRuns);
    experiment.warmup = 0;
    const auto is_wall = [](const auto& one) { return one.metric == "wall_time"; };
    std::erase_if(experiment.expected, is_wall);
    const bool measures_time = std::ranges::any_of(experiment.success, is_wall);
    std::erase_if(experiment.success, is_wall);
    const char* metric = experiment.recorded ? "iteration_time" : "cpu_time";
    if (measures_time)
      experiment.success.push_back(
          {CriterionKind::kMeasured,
           fmt::format("The {} is measured under the load.", find_plan_metric(metric)->title), "",
           metric, "", std::nullopt, ""});
    const bool expects_it = std::ranges::any_of(
        experiment.expected, [&](const auto& one) { return one.metric == metric; });
    if (measures_time && !expects_it) expect_unknown(experiment, metric);
    if (experiment.kind == ExperimentKind::kSmoke) return;
    experiment.prepare += std::string(experiment.prepare.empty() ? "" : " ") +
                          "Each run needs the load that the smoke experiment describes.";
  }

  void add_smoke() {
    Experiment smoke = begin_experiment(draft_, ExperimentKind::kSmoke, "smoke");
    smoke.purpose = draft_.gpu ? "Does the program run, and can its GPU work be recorded?"
                               : "Does the program run?";
    smoke.hypothesis = "The command works here as it is.";
    smoke.prepare = draft_.program.prepare;
    if (draft_.program.server) {
      smoke.prepare += (smoke.prepare.empty() ? "" : " ") + load_words();
      // 128 + SIGTERM, which it gets at its limit.
      expect(smoke, "exit_status", 143, 143,
             "a server runs until SIGTERM ends it at its limit; a shell calls that 143");
    } else {
      expect(smoke, "exit_status", 0, 0, "a program that works ends with status 0");
    }
    if (draft_.gpu && !draft_.amd)
      expect(smoke, "gpu_events", 1, std::nullopt,
             fmt::format("kernels in the code: {}", gpu_place()));
    if (!draft_.program.server) {
      smoke.success.push_back({CriterionKind::kAtMost, "The program ends with status 0.", "",
                               "exit_status", "", 0, "status"});
    }
    if (draft_.gpu && !draft_.amd) {
      smoke.success.push_back(
          {CriterionKind::kAtLeast, "GPU work is recorded.", "", "gpu_events", "", 1, "events"});
      smoke.surprises.push_back({"The program runs and no GPU work is recorded.",
                                 "GPU work in another process or container; CUPTI: fathom doctor",
                                 "gpu_events", "", 1, std::nullopt, ""});
    }
    draft_.plan.experiments.push_back(std::move(smoke));
  }
  // How the server gets its requests: by a client of the repository, else by ours.
  std::string load_words() const {
    const std::string text =
        "The program serves requests until its time limit. In each run, send the same load from "
        "another terminal as soon as it answers";
    const std::string address = fmt::format(
        "python3 {} --url http://127.0.0.1:{}/v1/completions --requests 64 "
        "--concurrency 8 --tokens 128",
        kLoadScript, draft_.program.port.value_or(8000));
    const std::string alone = fmt::format(
        "To run without another terminal, make the command {} -- COMMAND, with the path "
        "of Fathom's script, and set ends_by_limit = false",
        address);
    if (!draft_.program.load.empty())
      return fmt::format("{}, with the client at {}: {} . {} (OpenAI-compatible endpoints).", text,
                         draft_.program.load_where, shell_line(draft_.program.load), alone);
    return fmt::format(
        "{}. The repository has no client; for an OpenAI-compatible endpoint, Fathom has one that "
        "needs only Python's standard library: {} . {}.",
        text, address, alone);
  }
  std::string gpu_place() const {
    if (!draft_.kernels.empty()) {
      const KernelFacts& kernel = draft_.facts.kernels[draft_.kernels[0]];
      return draft_.place({kernel.at.file, kernel.line_name});
    }
    if (!draft_.features.empty() && !draft_.facts.features[draft_.features[0]].evidence.empty())
      return draft_.place(draft_.facts.features[draft_.features[0]].evidence[0].at);
    return "libraries that it calls";
  }

  // The chosen feature that this kind of experiment tells most of.
  const FeatureFacts* feature_with(Level level) const {
    const FeatureFacts* best = nullptr;
    size_t most = 0;
    for (const uint32_t position : draft_.features) {
      const FeatureFacts& feature = draft_.facts.features[position];
      size_t count = 0;
      for (const MetricFacts& metric : feature.metrics) {
        const PlanMetric* known = find_plan_metric(metric.id);
        count += known != nullptr && known->level == level && draft_.tracks(metric.id) ? 1 : 0;
      }
      if (count <= most) continue;
      most = count;
      best = &feature;
    }
    return best;
  }
  void add_baseline() {
    Experiment baseline = begin_experiment(draft_, ExperimentKind::kBaseline, "timeline as it is");
    baseline.purpose = "Where the time goes: phases, kernels, idle time and host work.";
    const FeatureFacts* feature = feature_with(Level::kProcess);
    baseline.hypothesis =
        hypothesis_of(draft_, feature != nullptr ? feature : feature_with(Level::kApplication));
    if (baseline.recorded) baseline.record = timeline_options(draft_);
    baseline.repetitions = kRepetitions;
    baseline.warmup = kWarmup;
    if (draft_.amd) {
      baseline.command.insert(baseline.command.begin(),
                              {"rocprofv3", "--sys-trace", "--output-format", "pftrace", "--"});
      baseline.repetitions = 1;
    }
    expect_tracked(draft_, baseline, {Level::kProcess, Level::kApplication});
    if (baseline.repetitions >= kRepetitionsForInterval) {
      baseline.success.push_back({CriterionKind::kSpread,
                                  "The median of the wall time is known to 5 %.", "", "wall_time",
                                  "", 5, "%"});
    } else {
      baseline.success.push_back({CriterionKind::kMeasured, "The wall time is measured.", "",
                                  "wall_time", "", std::nullopt, ""});
    }
    draft_.plan.experiments.push_back(std::move(baseline));
  }

  void add_host() {
    Experiment host = begin_experiment(draft_, ExperimentKind::kHost, "time and memory on the CPU");
    host.purpose = "How long the program takes, how much CPU time and memory it uses.";
    host.hypothesis = "None before the first measurement.";
    host.repetitions = 10;
    host.warmup = kWarmup;
    if (!draft_.probes.empty() || !draft_.log_patterns.empty()) {
      host.recorded = true;
      add_watched(draft_, host.record);
    }
    expect_tracked(draft_, host, {Level::kProcess, Level::kApplication});
    host.success.push_back({CriterionKind::kSpread, "The median of the wall time is known to 5 %.",
                            "", "wall_time", "", 5, "%"});
    draft_.plan.experiments.push_back(std::move(host));
  }

  // The smallest set with all hardware metrics that sets have.
  std::string counter_set_needed(bool& replay) const {
    std::string set;
    for (const Tracked& one : draft_.tracked) {
      const PlanMetric& metric = *find_plan_metric(one.metric);
      if (metric.level != Level::kHardware || metric.record == "--pm-sampling") continue;
      const ChipCounters counters = counters_on(metric, draft_.chip);
      if (!counters.exists() || counters.set.empty()) continue;
      // kernel_duration alone needs no counters.
      if (metric.id == "kernel_duration") continue;
      replay = replay || counters.passes.value_or(1) > 1;
      if (set.empty() || set == "basic") {
        set = counters.set;
      } else if (counters.set != "basic" && counters.set != set) {
        set = "full";
      }
    }
    return set;
  }

  void add_counters() {
    if (draft_.amd) {
      add_amd_counters();
      return;
    }
    bool replay = false;
    const std::string set = counter_set_needed(replay);
    if (set.empty()) return;
    const char* option = draft_.may_use("--counters") ? "--counters" : "--ncu";
    if (!draft_.may_use(option)) {
      draft_.plan.left_out.emplace_back(
          "hardware counters: the goal rules them out; the hardware table stays unmeasured");
      return;
    }
    Experiment counters = begin_experiment(draft_, ExperimentKind::kCounters, "hardware counters");
    counters.purpose =
        "How the hardware behaves in the kernels with 90 % of the GPU time. The program runs "
        "twice.";
    counters.hypothesis = hypothesis_of(draft_, feature_with(Level::kHardware));
    counters.record = {fmt::format("{}={}", option, set)};
    // Kernels that wait for other GPUs cannot run again by themselves.
    const bool waits = draft_.has_feature("collectives") ||
                       draft_.has_feature("custom_all_reduce") || draft_.has_feature("nvshmem");
    if (replay && !waits && std::string_view(option) == "--counters" && draft_.may_use("--replay"))
      counters.record.emplace_back("--replay");
    if (const auto passes = set_passes(draft_.chip, set)) {
      counters.purpose +=
          fmt::format(" Set {} on {}: {} of one pass, or {} with --replay.", set, draft_.chip,
                      counted(static_cast<uint64_t>(passes->groups), "group"),
                      counted(static_cast<uint64_t>(passes->replay), "pass", "passes"));
    }
    expect_tracked(draft_, counters, {Level::kHardware});
    // What no set of `fathom record` counts is not measured here.
    std::erase_if(counters.expected, [&](const ExpectedObservation& one) {
      const PlanMetric& metric = *find_plan_metric(one.metric);
      return metric.level == Level::kHardware && counters_on(metric, draft_.chip).set.empty();
    });
    draft_.plan.experiments.push_back(std::move(counters));
  }

  void add_amd_counters() {
    std::vector<std::string> names;
    for (const Tracked& one : draft_.tracked) {
      for (const std::string_view name : find_plan_metric(one.metric)->amd) {
        if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
      }
    }
    if (names.empty() || !draft_.may_use("--counters")) return;
    Experiment counters = begin_experiment(draft_, ExperimentKind::kCounters, "hardware counters");
    counters.purpose =
        "How the hardware behaves in each kernel. rocprofv3 runs a kernel once; counters that do "
        "not "
        "fit together need several runs.";
    counters.hypothesis = hypothesis_of(draft_, feature_with(Level::kHardware));
    std::vector<std::string> command = {"rocprofv3", "--pmc"};
    command.insert(command.end(), names.begin(), names.end());
    command.insert(command.end(), {"--output-format", "csv", "--"});
    command.insert(command.end(), counters.command.begin(), counters.command.end());
    counters.command = std::move(command);
    expect_tracked(draft_, counters, {Level::kHardware});
    draft_.plan.experiments.push_back(std::move(counters));
  }

  void add_stalls() {
    const bool tracked = std::ranges::any_of(
        draft_.tracked, [](const Tracked& one) { return one.metric.starts_with("stall_"); });
    const bool asked = draft_.goal.asks(Question::kBottleneck) ||
                       draft_.goal.asks(Question::kImplementation) || !draft_.goal.kernels.empty();
    if (!tracked || !asked || draft_.amd || !draft_.may_use("--pc-sampling")) return;
    if (draft_.facts.kernels.empty()) return;
    Experiment stalls = begin_experiment(draft_, ExperimentKind::kStalls, "why warps wait");
    stalls.purpose =
        "Which instructions warps wait at, and for what. Source lines need kernels built with "
        "-lineinfo.";
    stalls.hypothesis = hypothesis_of(draft_, feature_with(Level::kHardware));
    stalls.record = {"--pc-sampling"};
    for (const Tracked& one : draft_.tracked) {
      if (one.metric.starts_with("stall_")) expect_unknown(stalls, one.metric);
    }
    draft_.plan.experiments.push_back(std::move(stalls));
  }

  void add_first_call() {
    if (!draft_.tracks("first_call_time")) return;
    for (const auto& row : read_tsv(plan_first_calls_tsv, 3)) {
      const auto chosen = std::ranges::find_if(draft_.features, [&](uint32_t position) {
        return draft_.facts.features[position].id == row[0];
      });
      if (chosen == draft_.features.end()) continue;
      const FeatureFacts& feature = draft_.facts.features[*chosen];
      Experiment first =
          begin_experiment(draft_, ExperimentKind::kFirstCall, "first call against cached");
      const std::string folder = "fathom-cold-cache";
      first.purpose = fmt::format(
          "What compilation costs at the first call ({}): the same command "
          "with an empty cache, then again.",
          feature.title);
      first.hypothesis = hypothesis_of(draft_, &feature);
      first.prepare = fmt::format("Delete the folder {} in the repository if it is there.", folder);
      for (const char* name : {"cold", "warm"}) {
        first.configurations.push_back(
            {name, {}, {{std::string(row[1]), folder}}, {{"cache", name}}});
      }
      if (first.recorded) add_watched(draft_, first.record);
      expect_unknown(first, "first_call_time");
      expect_unknown(first, "wall_time");
      first.success.push_back({CriterionKind::kMeasured,
                               "The difference of cold and warm is measured.", "", "wall_time", "",
                               std::nullopt, ""});
      draft_.plan.experiments.push_back(std::move(first));
      return;
    }
  }

  void add_other_version() {
    Experiment other = begin_experiment(draft_, ExperimentKind::kCompare, "the other version");
    other.purpose = "The same recording of the version that was faster.";
    other.hypothesis =
        "Kernels, their number or their time differ from those of the first recording.";
    other.folder = "../" + draft_.plan.project + "-before";
    other.prepare = fmt::format(
        "Check out the faster version: git worktree add ../{}-before COMMIT, and build it there.",
        draft_.plan.project);
    if (other.recorded) other.record = timeline_options(draft_);
    other.repetitions = kRepetitions;
    other.warmup = kWarmup;
    for (const char* metric : {"wall_time", "kernel_choice", "kernel_duration"})
      expect_unknown(other, metric);
    draft_.plan.open.emplace_back(
        "Which commit or version was faster? The experiment \"the other version\" needs it.");
    draft_.plan.experiments.push_back(std::move(other));
  }

  PlanDraft& draft_;
};

}  // namespace

void write_experiments(PlanDraft& draft) { ExperimentWriter(draft).run(); }

}  // namespace fathom
