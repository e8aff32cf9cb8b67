#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/count_text.h"
#include "base/tsv.h"
#include "plan/goal_words.h"
#include "plan/plan_draft.h"
#include "plan/plan_metrics.h"
#include "plan/sweeps.h"

extern const std::string_view plan_first_calls_tsv;

namespace fathom {
namespace {

constexpr size_t kMostSweeps = 3;
constexpr int64_t kRepetitions = kRepetitionsForInterval, kWarmup = 1;
constexpr double kRunLimit = 600, kServerLimit = 180;  // s

std::string first_sentence(std::string_view text) {
  const size_t end = text.find(". ");
  return std::string(end == std::string_view::npos ? text : text.substr(0, end + 1));
}

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
    add_sweeps();
    if (draft_.gpu) add_first_call();
    if (draft_.goal.asks(Question::kRegression)) add_other_version();
    for (Experiment& experiment : draft_.plan.experiments) {
      if (experiment.ends_by_limit) fit_server(experiment);
    }
  }

 private:
  Experiment begin(ExperimentKind kind, std::string name) {
    Experiment experiment;
    experiment.id = fmt::format("E{}", draft_.plan.experiments.size() + 1);
    experiment.kind = kind;
    experiment.name = std::move(name);
    experiment.command = draft_.program.command;
    experiment.environment = draft_.program.environment;
    experiment.folder = draft_.program.folder;
    experiment.needs_gpu = draft_.gpu;
    experiment.recorded = draft_.gpu && !draft_.amd;
    experiment.ends_by_limit = draft_.program.server;
    experiment.time_limit = draft_.program.server ? kServerLimit : kRunLimit;
    return experiment;
  }

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
    Experiment smoke = begin(ExperimentKind::kSmoke, "smoke");
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

  // Options of a recording of the timeline, with what the tracked metrics need.
  std::vector<std::string> timeline_options() const {
    std::vector<std::string> options;
    const auto add = [&](const char* option) {
      if (draft_.may_use(option)) options.emplace_back(option);
    };
    if (draft_.program.torch) add("--torch");
    if (has_feature("cuda_graphs")) add("--graph-nodes");
    if (draft_.tracks("peak_memory")) add("--allocations");
    if (samples()) add("--pm-sampling");
    add_watched(options);
    return options;
  }
  void add_watched(std::vector<std::string>& options) const {
    for (const std::string& probe : draft_.probes) {
      options.emplace_back("--probe");
      options.push_back(probe);
    }
    for (const std::string& pattern : draft_.log_patterns) {
      options.emplace_back("--log-pattern");
      options.push_back(pattern);
    }
  }
  // Of one feature only: watching costs time, and a sweep is about one thing.
  void add_watched_of(const FeatureFacts* feature, std::vector<std::string>& options) const {
    std::vector<std::string> metrics;
    if (feature != nullptr) {
      for (const MetricFacts& metric : feature->metrics) metrics.push_back(metric.id);
    }
    for (const Requirement& row : draft_.plan.requirements) {
      const bool of_feature =
          feature != nullptr &&
          (std::ranges::find(metrics, row.metric) != metrics.end() ||
           (row.metric == "function_time" && row.title.starts_with(feature->title + ":")));
      const bool asked =
          std::ranges::find(draft_.goal.metrics, row.metric) != draft_.goal.metrics.end();
      if (row.level != Level::kApplication || row.names.empty() || (!of_feature && !asked))
        continue;
      const std::string& name = row.names[0];
      const bool probed = std::ranges::find(draft_.probes, name) != draft_.probes.end();
      const bool printed =
          std::ranges::find(draft_.log_patterns, name) != draft_.log_patterns.end();
      if ((!probed && !printed) || std::ranges::find(options, name) != options.end()) continue;
      options.emplace_back(probed ? "--probe" : "--log-pattern");
      options.push_back(name);
    }
  }
  bool samples() const {
    return std::ranges::any_of(draft_.tracked, [](const Tracked& one) {
      return find_plan_metric(one.metric)->record == "--pm-sampling";
    });
  }
  bool has_feature(std::string_view id) const {
    return std::ranges::find(draft_.facts.features, id, &FeatureFacts::id) !=
           draft_.facts.features.end();
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
  std::string hypothesis_of(const FeatureFacts* feature) const {
    if (feature == nullptr) return "None: the first measurement tells.";
    const std::string place =
        feature->evidence.empty() ? "" : " at " + draft_.place(feature->evidence[0].at);
    return fmt::format("{}{}: {}", feature->title, place, feature->implication);
  }

  void add_baseline() {
    Experiment baseline = begin(ExperimentKind::kBaseline, "timeline as it is");
    baseline.purpose = "Where does the time go: phases, kernels, idle time and what the host does.";
    const FeatureFacts* feature = feature_with(Level::kProcess);
    baseline.hypothesis =
        hypothesis_of(feature != nullptr ? feature : feature_with(Level::kApplication));
    if (baseline.recorded) baseline.record = timeline_options();
    baseline.repetitions = kRepetitions;
    baseline.warmup = kWarmup;
    if (draft_.amd) {
      baseline.command.insert(baseline.command.begin(),
                              {"rocprofv3", "--sys-trace", "--output-format", "pftrace", "--"});
      baseline.repetitions = 1;
    }
    expect_tracked(baseline, {Level::kProcess, Level::kApplication});
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
    Experiment host = begin(ExperimentKind::kHost, "time and memory on the CPU");
    host.purpose = "How long the program takes, how much CPU time and memory it uses.";
    host.hypothesis = "None: the first measurement tells.";
    host.repetitions = 10;
    host.warmup = kWarmup;
    if (!draft_.probes.empty() || !draft_.log_patterns.empty()) {
      host.recorded = true;
      add_watched(host.record);
    }
    expect_tracked(host, {Level::kProcess, Level::kApplication});
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
      draft_.plan.left_out.push_back(
          "hardware counters: the goal rules them out; the hardware table stays unmeasured");
      return;
    }
    Experiment counters = begin(ExperimentKind::kCounters, "hardware counters");
    counters.purpose =
        "How the hardware behaves in the kernels with 90 % of the GPU time. The program runs "
        "twice.";
    counters.hypothesis = hypothesis_of(feature_with(Level::kHardware));
    counters.record = {fmt::format("{}={}", option, set)};
    // Kernels that wait for other GPUs cannot run again by themselves.
    const bool waits =
        has_feature("collectives") || has_feature("custom_all_reduce") || has_feature("nvshmem");
    if (replay && !waits && std::string_view(option) == "--counters" && draft_.may_use("--replay"))
      counters.record.emplace_back("--replay");
    if (const auto passes = set_passes(draft_.chip, set)) {
      counters.purpose +=
          fmt::format(" Set {} on {}: {} of one pass, or {} with --replay.", set, draft_.chip,
                      counted(static_cast<uint64_t>(passes->groups), "group"),
                      counted(static_cast<uint64_t>(passes->replay), "pass", "passes"));
    }
    expect_tracked(counters, {Level::kHardware});
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
    Experiment counters = begin(ExperimentKind::kCounters, "hardware counters");
    counters.purpose =
        "How the hardware behaves in each kernel. rocprofv3 runs a kernel once; counters that do "
        "not "
        "fit together need several runs.";
    counters.hypothesis = hypothesis_of(feature_with(Level::kHardware));
    std::vector<std::string> command = {"rocprofv3", "--pmc"};
    command.insert(command.end(), names.begin(), names.end());
    command.insert(command.end(), {"--output-format", "csv", "--"});
    command.insert(command.end(), counters.command.begin(), counters.command.end());
    counters.command = std::move(command);
    expect_tracked(counters, {Level::kHardware});
    draft_.plan.experiments.push_back(std::move(counters));
  }

  void add_stalls() {
    const bool tracked = std::ranges::any_of(
        draft_.tracked, [](const Tracked& one) { return one.metric.starts_with("stall_"); });
    const bool asked = draft_.goal.asks(Question::kBottleneck) ||
                       draft_.goal.asks(Question::kImplementation) || !draft_.goal.kernels.empty();
    if (!tracked || !asked || draft_.amd || !draft_.may_use("--pc-sampling")) return;
    if (draft_.facts.kernels.empty()) return;
    Experiment stalls = begin(ExperimentKind::kStalls, "why warps wait");
    stalls.purpose =
        "Which instructions warps wait at, and for what. Source lines need kernels built with "
        "-lineinfo.";
    stalls.hypothesis = hypothesis_of(feature_with(Level::kHardware));
    stalls.record = {"--pc-sampling"};
    for (const Tracked& one : draft_.tracked) {
      if (one.metric.starts_with("stall_")) expect_unknown(stalls, one.metric);
    }
    draft_.plan.experiments.push_back(std::move(stalls));
  }

  void add_sweeps() {
    const std::vector<Sweep> all = sweeps_to_run(draft_);
    size_t count = 0;
    for (const Sweep& sweep : all) {
      const OptionFacts& option = draft_.facts.options[sweep.option];
      if (count++ >= kMostSweeps) {
        draft_.plan.left_out.push_back(fmt::format("a sweep of {} ({}): {} sweeps come first",
                                                   option.name, draft_.place(option.at),
                                                   kMostSweeps));
        continue;
      }
      add_sweep(sweep, option);
    }
    say_what_cannot_be_set();
    for (const uint32_t position : draft_.goal.options) {
      const OptionFacts& option = draft_.facts.options[position];
      if (!draft_.goal.numbers_of(position).empty() && !has_settable(draft_, option)) {
        draft_.plan.open.push_back(
            fmt::format("The goal gives numbers for {} ({}), which the command does not have. Give "
                        "a command that has it with --command.",
                        option.name, draft_.place(option.at)));
        continue;
      }
      if (can_set(draft_, position) || option.kind != OptionKind::kConfig) continue;
      draft_.plan.open.push_back(fmt::format(
          "{} ({}) is set in code: no option of the command sets it; add configurations by hand",
          option.name, draft_.place(option.at)));
    }
  }
  // Options that affect the features, of other programs of the repository.
  void say_what_cannot_be_set() {
    std::string names;
    size_t count = 0;
    std::set<std::string> seen;
    for (const uint32_t position : draft_.features) {
      for (const uint32_t option : draft_.facts.features[position].options) {
        const OptionFacts& facts = draft_.facts.options[option];
        if (facts.kind != OptionKind::kCli || can_set(draft_, option) ||
            values_of(facts, {}).empty())
          continue;
        if (count == 4 || !seen.insert(facts.name).second) continue;
        names +=
            fmt::format("{}{} at {}", count++ > 0 ? ", " : "", facts.name, draft_.place(facts.at));
      }
    }
    if (count == 0) return;
    draft_.plan.open.push_back(
        "The command does not have these options, which affect the features: " + names +
        ". Give a command that has them with --command to vary them.");
  }
  void add_sweep(const Sweep& sweep, const OptionFacts& option) {
    Experiment experiment = begin(
        draft_.goal.asks(Question::kComparison) ? ExperimentKind::kCompare : ExperimentKind::kSweep,
        "vary " + option.name);
    experiment.configurations = values_of(option, sweep.wanted);
    if (option.kind == OptionKind::kCli)
      experiment.command = without_option(experiment.command, option);
    const std::string place = draft_.place(option.at);
    experiment.purpose =
        sweep.feature != nullptr
            ? fmt::format("How {} depends on {} at {}.", sweep.feature->title, option.name, place)
            : fmt::format("How the time depends on {} at {}.", option.name, place);
    if (option.default_value)
      experiment.purpose += fmt::format(" Its default is {}.", *option.default_value);
    if (!option.help.empty()) experiment.purpose += fmt::format(" {}", first_sentence(option.help));
    experiment.hypothesis =
        sweep.feature != nullptr
            ? hypothesis_of(sweep.feature)
            : fmt::format("None for {}: the first measurement tells.", option.name);
    if (experiment.recorded) add_watched_of(sweep.feature, experiment.record);
    experiment.repetitions = kRepetitions;
    experiment.warmup = kWarmup;
    add_expected_values(sweep, option, experiment);
    expect_unknown(experiment, draft_.gpu && !draft_.amd ? "iteration_time" : "wall_time");
    if (sweep.feature != nullptr) {
      for (const MetricFacts& metric : sweep.feature->metrics) {
        const PlanMetric* known = find_plan_metric(metric.id);
        if (known != nullptr && known->level != Level::kHardware && draft_.tracks(metric.id))
          expect_unknown(experiment, metric.id);
      }
    }
    experiment.success.push_back({CriterionKind::kSpread,
                                  fmt::format("Configurations of {} are told apart: the median is "
                                              "known to 5 %.",
                                              option.name),
                                  "", "wall_time", "", 5, "%"});
    draft_.plan.experiments.push_back(std::move(experiment));
  }
  // Kernels with this value in place of the default.
  void add_expected_values(const Sweep& sweep, const OptionFacts& option, Experiment& experiment) {
    if (sweep.feature != nullptr || option.kind != OptionKind::kCli) return;
    for (const Configuration& configuration : experiment.configurations) {
      std::string name = configuration.settings[0].first;
      std::ranges::replace(name, '-', '_');
      std::vector<std::string> parameters = workload_parameters(draft_);
      std::erase_if(parameters,
                    [&](const std::string& one) { return one.starts_with(name + "="); });
      double number = 0;
      if (!read_number(configuration.settings[0].second, number)) continue;
      parameters.push_back(name + "=" + configuration.settings[0].second);
      for (ExpectedObservation& one : expected_of_kernels(draft_, parameters, configuration.name)) {
        if (one.metric == "kernel_duration") experiment.expected.push_back(std::move(one));
      }
    }
  }

  void add_first_call() {
    if (!draft_.tracks("first_call_time")) return;
    for (const auto& row : read_tsv(plan_first_calls_tsv, 3)) {
      const auto chosen = std::ranges::find_if(draft_.features, [&](uint32_t position) {
        return draft_.facts.features[position].id == row[0];
      });
      if (chosen == draft_.features.end()) continue;
      const FeatureFacts& feature = draft_.facts.features[*chosen];
      Experiment first = begin(ExperimentKind::kFirstCall, "first call against cached");
      const std::string folder = "fathom-cold-cache";
      first.purpose = fmt::format(
          "What compilation costs at the first call ({}): the same command "
          "with an empty cache, then again.",
          feature.title);
      first.hypothesis = hypothesis_of(&feature);
      first.prepare = fmt::format("Delete the folder {} in the repository if it is there.", folder);
      for (const char* name : {"cold", "warm"}) {
        first.configurations.push_back(
            {name, {}, {{std::string(row[1]), folder}}, {{"cache", name}}});
      }
      if (first.recorded) add_watched(first.record);
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
    Experiment other = begin(ExperimentKind::kCompare, "the other version");
    other.purpose = "The same recording of the version that was faster.";
    other.hypothesis =
        "Kernels, their number or their time differ from those of the first recording.";
    other.folder = "../" + draft_.plan.project + "-before";
    other.prepare = fmt::format(
        "Check out the faster version: git worktree add ../{}-before COMMIT, and build it there.",
        draft_.plan.project);
    if (other.recorded) other.record = timeline_options();
    other.repetitions = kRepetitions;
    other.warmup = kWarmup;
    for (const char* metric : {"wall_time", "kernel_choice", "kernel_duration"})
      expect_unknown(other, metric);
    draft_.plan.open.emplace_back(
        "Which commit or version was faster? The experiment \"the other version\" needs it.");
    draft_.plan.experiments.push_back(std::move(other));
  }

  static void expect(Experiment& experiment, std::string_view metric, std::optional<double> low,
                     std::optional<double> high, std::string source) {
    ExpectedObservation one;
    one.metric = metric;
    one.unit = find_plan_metric(metric)->unit;
    one.low = low;
    one.high = high;
    one.source = std::move(source);
    experiment.expected.push_back(std::move(one));
  }
  static void expect_unknown(Experiment& experiment, std::string_view metric) {
    const auto same = [&](const ExpectedObservation& one) {
      return one.metric == metric && one.subject.empty();
    };
    if (std::ranges::none_of(experiment.expected, same))
      expect(experiment, metric, std::nullopt, std::nullopt, "unknown, first measurement");
  }

  // Every tracked metric of these levels: as a model or a feature expects it, or unknown.
  void expect_tracked(Experiment& experiment, const std::vector<Level>& levels) {
    const auto wanted = [&](std::string_view metric) {
      const PlanMetric* known = find_plan_metric(metric);
      return std::ranges::find(levels, known->level) != levels.end();
    };
    std::set<std::string, std::less<>> done;
    for (ExpectedObservation& one : expected_of_kernels(draft_, workload_parameters(draft_), "")) {
      if (!wanted(one.metric) || !draft_.tracks(one.metric)) continue;
      done.insert(one.metric);
      experiment.expected.push_back(std::move(one));
    }
    for (ExpectedObservation& one : expected_of_features(draft_)) {
      if (!wanted(one.metric) || done.contains(one.metric)) continue;
      done.insert(one.metric);
      experiment.expected.push_back(std::move(one));
    }
    add_platform_bounds(experiment, wanted, done);
    for (const Tracked& one : draft_.tracked) {
      const PlanMetric& metric = *find_plan_metric(one.metric);
      if (!wanted(one.metric) || done.contains(one.metric)) continue;
      if (metric.level == Level::kHardware) {
        if (draft_.amd ? metric.amd.empty() : !counters_on(metric, draft_.chip).exists()) continue;
        if (metric.record == "--pm-sampling" ||
            (!draft_.amd && counters_on(metric, draft_.chip).set.empty()))
          continue;
      }
      expect_unknown(experiment, one.metric);
    }
    if (experiment.kind == ExperimentKind::kBaseline || experiment.kind == ExperimentKind::kHost)
      expect_unknown(experiment, "wall_time");
  }
  template <typename Wanted>
  void add_platform_bounds(Experiment& experiment, const Wanted& wanted,
                           std::set<std::string, std::less<>>& done) {
    if (draft_.platform == nullptr || !wanted("dram_throughput") ||
        done.contains("dram_throughput") || !draft_.tracks("dram_throughput"))
      return;
    const Rate& bandwidth = draft_.platform->memory_bandwidth;
    if (!bandwidth.peak || !bandwidth.achievable) return;
    expect(experiment, "dram_throughput", std::nullopt,
           std::min(100.0, std::round(1000 * *bandwidth.achievable / *bandwidth.peak) / 10),
           fmt::format("achievable bandwidth of {}, {}: {}", draft_.platform->name,
                       source_kind_name(bandwidth.achievable_source.kind),
                       bandwidth.achievable_source.where));
    done.insert("dram_throughput");
  }

  PlanDraft& draft_;
};

}  // namespace

void write_experiments(PlanDraft& draft) { ExperimentWriter(draft).run(); }

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
