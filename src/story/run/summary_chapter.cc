#include <algorithm>
#include <tuple>

#include "base/kernel_name.h"
#include "base/text_parts.h"
#include "base/utf8.h"
#include "measure/hypotheses.h"
#include "story/run/bottlenecks.h"
#include "story/run/chapters.h"
#include "story/run/kernel_evidence.h"

namespace fathom {

using K = StoryLineKind;
using Mark = StoryMark;
using T = StoryTopic;

namespace {

constexpr size_t kHostLines = 6;
constexpr size_t kHotspots = 3, kBottlenecks = 3, kActions = 3;
constexpr double kWorthTelling = 0.01;  // of the run

class SummaryTeller {
 public:
  SummaryTeller(const RunFacts& facts, const WorkLabels& labels, const HardwareIndex& hardware,
                const PhaseProfiles& profiles, const WorkFilter& is_told, RunStory& story)
      : facts_(facts),
        labels_(labels),
        hardware_(hardware),
        profiles_(profiles),
        is_told_(is_told),
        story_(story) {
    for (const PhaseProfile& p : profiles.profiles) {
      told_.insert(told_.end(), p.work.begin(), p.work.end());
      if (p.phase->kind != PhaseKind::kSetup)
        steps_.insert(steps_.end(), p.work.begin(), p.work.end());
      busy_ += p.busy;
      whole_ += p.time();
    }
    if (steps_.empty()) steps_ = told_;
    if (!is_told) whole_ = story.total;
  }

  void tell() {
    if (facts_.assessment.cpu() != nullptr || facts_.assessment.host() != nullptr) {
      if (facts_.assessment.cpu() != nullptr) tell_cpu();
      if (facts_.assessment.host() != nullptr) tell_host();
      add_missing(T::kGpuWork, "fathom record -- PROGRAM", {}, "ops_summary");
      tell_findings();
      return;
    }
    tell_hotspots();
    tell_bottlenecks();
    tell_insight();
    tell_actions();
    tell_missing();
  }

 private:
  const EventStore& store() const { return facts_.input.store; }
  const HardwareState& state_of_steps() {
    if (!state_) state_ = hardware_.state(steps_);
    return *state_;
  }

  void tell_hotspots() {
    struct Spot {
      bool is_op = false;
      Nanos time;
      EventId first;
      size_t count = 0;
    };
    const bool by_op = facts_.input.tree.has_ops();
    std::map<std::string, Spot> spots;
    for (const EventId e : steps_) {
      std::string name(by_op ? labels_.full_op_name(e) : std::string_view{});
      const bool is_op = !name.empty();
      if (!is_op) name = store().name(e).substr(0, kTextBytes);
      Spot& spot = spots[std::move(name)];
      spot.is_op = is_op;
      spot.time += profiles_.owned[e.index];
      if (spot.count++ == 0) spot.first = e;
    }
    std::vector<std::pair<const std::string*, const Spot*>> sorted;
    for (const auto& [name, spot] : spots) sorted.emplace_back(&name, &spot);
    std::ranges::sort(sorted, [](const auto& a, const auto& b) {
      return std::tuple(b.second->time, a.second->first) <
             std::tuple(a.second->time, b.second->first);
    });
    for (size_t i = 0; i < std::min(sorted.size(), kHotspots); ++i) {
      const auto& [name, spot] = sorted[i];
      if (spot->time.count <= 0) break;
      StoryLine line(K::kHotspot, Mark::kMeasured, spot->is_op ? T::kOps : T::kNone,
                     {cut_text(*name), labels_.work_class(spot->first)},
                     {{"share", 100 * ratio(spot->time, busy_), "%"},
                      {"time", spot->time.micros(), "µs"},
                      {"kernels", static_cast<double>(spot->count), ""}});
      line.evidence.events = {store().uid(spot->first)};
      line.evidence.sheet = spot->is_op ? "ops_summary" : "kernel_summary";
      line.evidence.row = cut_to_bytes(*name, 200);
      story_.hotspots.push_back(std::move(line));
    }
  }

  void tell_bottlenecks() {
    const bool is_part = static_cast<bool>(is_told_);
    std::vector<Bottleneck> found =
        find_bottlenecks({facts_, labels_, hardware_, profiles_, told_, steps_, whole_, is_part});
    for (Bottleneck& c : found) {
      if (story_.bottlenecks.size() == kBottlenecks) break;
      if (ratio(c.time, whole_) < kWorthTelling) break;
      story_.bottlenecks.push_back(std::move(c.line));
    }
    if (!story_.bottlenecks.empty() || busy_.count <= 0 || !facts_.has_idle_time()) return;
    // Kernels fill the time, and nothing tells what limits them.
    if (state_of_steps().counted > 0) return;
    StoryLine line = bottleneck_line(whole_, Mark::kMeasured, T::kUnknownLimit, busy_);
    line.evidence.sheet = "gpu_timeline";
    story_.bottlenecks.push_back(std::move(line));
  }

  void tell_insight() {
    const HardwareState& s = state_of_steps();
    const double busy = ratio(busy_, whole_);
    if (facts_.has_idle_time() && busy < 0.5 && whole_.count > 0) {
      StoryLine line(K::kInsight, Mark::kDerived, T::kHost, {},
                     {{"busy", 100 * busy, "%"},
                      {"kernels_gain", 1 / (1 - busy), "×"},
                      {"idle_gain", busy > 0 ? 1 / busy : 0, "×"}});
      line.evidence.sheet = "gpu_timeline";
      line.evidence.formula = "total ÷ (total − busy), and total ÷ busy";
      story_.insights.push_back(std::move(line));
    }
    if (s.counted > 0 && (s.tensor.mean() || s.dram.mean() || s.sm.mean())) {
      StoryLine line(K::kInsight, Mark::kMeasured, T::kKernel);
      const auto add = [&line](std::string_view name, const WeightedMean& mean) {
        if (mean.mean()) line.numbers.push_back({name, *mean.mean(), "%"});
      };
      add("sm", s.sm);
      add("tensor", s.tensor);
      add("dram", s.dram);
      add("occupancy", s.occupancy);
      line.numbers.push_back({"coverage", 100 * s.counted / s.kernel_time, "%"});
      line.evidence.file = s.file;
      line.evidence.sheet = "kernels";
      line.evidence.formula = "mean over the kernels with counters, weighted by their time";
      story_.insights.push_back(std::move(line));
    }
    if (s.limited > 0 && s.limit > 0 && s.limited >= 0.2 * s.kernel_time) {
      StoryLine line(K::kInsight, Mark::kEstimated, T::kOps, {},
                     {{"of_limit", 100 * std::min(1.0, s.limit / s.limited), "%"},
                      {"near_memory", 100 * s.near_memory / s.limited, "%"},
                      {"near_compute", 100 * s.near_compute / s.limited, "%"},
                      {"far", 100 * s.far / s.limited, "%"},
                      {"coverage", 100 * s.limited / s.kernel_time, "%"}});
      line.evidence.sheet = "unified_perf_summary";
      line.evidence.formula = "time at the achievable rates of the GPU ÷ measured time";
      story_.insights.push_back(std::move(line));
    }
  }

  void tell_findings() {
    for (const Finding& f : facts_.findings) {
      if (story_.actions.size() == kActions) return;
      if (!f.under.empty()) continue;                     // part of another
      if (f.kind == FindingKind::kKernelLimit) continue;  // told of each kernel below
      const std::string& advice = f.change_code.empty() ? f.improve_kernel : f.change_code;
      if (advice.empty()) continue;
      const double length = static_cast<double>(facts_.assessment.length().count);
      if (length <= 0) continue;
      const double most = 100 * static_cast<double>(f.saving_at_most.count) / length;
      const double least = 100 * static_cast<double>(f.saving_at_least.count) / length;
      if (most < 100 * kWorthTelling) continue;
      StoryLine line(K::kAction, Mark::kDerived, T::kNone,
                     {cut_text(f.title), cut_text(advice), std::string(kind_name(f.kind))},
                     {{"least", std::clamp(least, 0.0, 100.0), "%"},
                      {"most", std::clamp(most, 0.0, 100.0), "%"}});
      line.evidence.sheet = "standalone_analysis_fair.md";
      line.evidence.row = cut_to_bytes(f.title, 200);
      story_.actions.push_back(std::move(line));
    }
  }

  void tell_actions() {
    if (!is_told_ && facts_.has_timeline) tell_findings();
    // Of kernels: the confirmed hypotheses with the most to save, each kernel once.
    std::vector<const KernelContext*> seen;
    for (const ConfirmedLimit& limit : find_bottlenecks(facts_.contexts)) {
      if (seen.size() == kActions || limit.saving.count <= 0) break;
      if (is_told_ && !is_told_(limit.kernel->first)) continue;
      if (!explains_kernel(*limit.kernel, *limit.tested)) continue;
      if (contains(seen, limit.kernel)) continue;
      if (ratio(limit.saving, story_.total) < kWorthTelling && !is_told_) break;
      seen.push_back(limit.kernel);
      StoryLine line = advice_line(*limit.kernel, *limit.tested, store());
      line.kind = K::kAction;
      line.topic = T::kKernel;
      line.names = {cut_text(limit.kernel->name), std::string(limit.tested->hypothesis->advice),
                    std::string(limit.tested->hypothesis->id)};
      story_.actions.push_back(std::move(line));
    }
  }

  void add_missing(T topic, std::string command, std::vector<StoryNumber> numbers,
                   std::string_view sheet) {
    StoryLine line(K::kMissing, Mark::kMeasured, topic, {std::move(command)}, std::move(numbers));
    line.evidence.sheet = sheet;
    story_.missing.push_back(std::move(line));
  }

  void tell_missing() {
    const SheetInput& input = facts_.input;
    const HardwareState s =
        told_.size() == steps_.size() ? state_of_steps() : hardware_.state(told_);
    // `fathom record` is for NVIDIA's GPUs.
    const bool is_amd = facts_.assessment.vendor() == "AMD" || holds(facts_.gpu, "AMD") ||
                        holds(facts_.gpu, "Instinct") || holds(facts_.software, "rocprof");
    if (!facts_.has_timeline)
      add_missing(T::kTimeline,
                  is_amd ? "rocprofv3 --sys-trace -- PROGRAM" : "fathom record -- PROGRAM", {},
                  "kernel_counters");
    std::vector<std::string_view> wanted;
    for (size_t i = 0; i < std::min(facts_.contexts.size(), kAskedContexts); ++i)
      for (const TestedHypothesis& tested : facts_.contexts[i].tested)
        for (const std::string_view name : tested.missing)
          if (!contains(wanted, name)) wanted.push_back(name);
    const auto counted = std::ranges::find_if(
        facts_.contexts, [](const KernelContext& kernel) { return !kernel.file.empty(); });
    const CountingTool tool =
        counted != facts_.contexts.end() ? counted->tool : CountingTool::kRecord;
    const double coverage = s.kernel_time > 0 ? 100 * s.counted / s.kernel_time : 0;
    if (is_amd && s.kernel_time > 0 && s.counted <= 0) {
      add_missing(T::kCounters, "rocprof-compute profile --name run -- PROGRAM", {},
                  "kernel_summary");
    } else if (s.kernel_time > 0 && s.counted <= 0) {
      const std::string command = command_for(wanted);
      add_missing(T::kCounters, command.empty() ? "fathom record --counters -- PROGRAM" : command,
                  {}, "kernel_summary");
    } else if (!is_amd && s.kernel_time > 0 && (coverage < 80 || !wanted.empty())) {
      if (tool == CountingTool::kNcu) std::erase(wanted, "allocated_mb");  // ncu cannot count it
      add_missing(T::kMoreCounters, command_for(wanted, tool), {{"coverage", coverage, "%"}},
                  "kernel_counters");
    }
    if (!is_amd && s.kernel_time > 0 && s.stalls.empty() && input.kernels.samples() == nullptr)
      add_missing(T::kStalls, "fathom record --pc-sampling -- PROGRAM", {}, "kernel_counters");
    if (facts_.has_timeline && !input.tree.has_ops()) {
      add_missing(T::kOpNames, {}, {}, "kernel_summary");
    } else if (facts_.has_timeline && s.modelled <= 0 && s.kernel_time > 0) {
      add_missing(T::kShapes, "torch.profiler.profile(record_shapes=True)", {}, "ops_unique_args");
    }
    if (hardware_.platform() == nullptr) {
      add_missing(T::kPlatform, "--platform NAME", {}, "kernel_summary");
      story_.missing.back().names.push_back(facts_.gpu);
    }
    add_stack_overhead();
    const std::vector<EventId>& unlinked = input.selection.unlinked();
    if (!unlinked.empty() && !input.scope.include_unlinked) {
      double time = 0;
      for (const EventId e : unlinked) time += static_cast<double>(store().duration(e).count);
      add_missing(T::kLaunches, "--include-unlinked",
                  {{"count", static_cast<double>(unlinked.size()), ""},
                   {"time", std::max(0.0, time) / 1e3, "µs"}},
                  "kernel_summary");
    }
  }

  // Recording Python frames slows the host down: idle time is longer than without.
  void add_stack_overhead() {
    constexpr double kFramesPerLaunch = 5, kMuchIdle = 0.1;
    size_t frames = 0, launches = 0;
    EventId first;
    for (size_t i = 0; i < store().size(); ++i) {
      const EventKind kind = store().kind(EventId(i));
      launches += is_launch(kind);
      if (kind != EventKind::kPython) continue;
      if (frames++ == 0) first = EventId(i);
    }
    const double each =
        static_cast<double>(frames) / static_cast<double>(std::max<size_t>(1, launches));
    if (each < kFramesPerLaunch || !facts_.has_idle_time() || 1 - ratio(busy_, whole_) < kMuchIdle)
      return;
    add_missing(T::kStacks, "with_stack=False",
                {{"frames", static_cast<double>(frames), ""}, {"per_launch", each, ""}},
                "gpu_timeline");
    story_.missing.back().evidence.events = {store().uid(first)};
  }

  // A trace without GPU work.
  void tell_cpu() {
    const CpuOps& cpu = *facts_.assessment.cpu();
    story_.total = cpu.length();
    story_.between = cpu.length();
    size_t shown = 0;
    for (const auto& op : cpu.by_name()) {
      if (shown++ == kHotspots) break;
      StoryLine line(
          K::kHotspot, Mark::kMeasured, T::kCpu, {cut_text(store().text(op.name)), "cpu"},
          {{"share", 100 * ratio(op.self, cpu.self()), "%"}, {"time", op.self.micros(), "µs"}});
      line.evidence.sheet = "cpu_ops_summary";
      line.evidence.row = cut_to_bytes(store().text(op.name), 200);
      line.evidence.events = {store().uid(op.first)};
      story_.hotspots.push_back(std::move(line));
    }
  }

  // Its ranges and counters.
  void tell_host() {
    const HostActivity& host = *facts_.assessment.host();
    if (facts_.assessment.cpu() == nullptr) story_.total = story_.between = host.length;
    for (size_t i = 0; i < std::min(host.ranges.size(), kHostLines); ++i) {
      const HostRange& range = host.ranges[i];
      StoryLine line(K::kHostRange, Mark::kMeasured, T::kNone, {cut_text(store().text(range.name))},
                     {{"share", 100 * ratio(range.total, host.length), "%"},
                      {"time", range.total.micros(), "µs"},
                      {"count", static_cast<double>(range.count), ""},
                      {"median", range.median.micros(), "µs"}});
      line.evidence.sheet = "host_ranges";
      line.evidence.row = cut_to_bytes(store().text(range.name), 200);
      line.evidence.events = {store().uid(range.first)};
      story_.hotspots.push_back(std::move(line));
    }
    for (size_t i = 0; i < std::min(host.counters.size(), kHostLines); ++i) {
      const CounterTrack& track = host.counters[i];
      StoryLine line(K::kHostCounter, Mark::kMeasured, T::kNone,
                     {cut_text(store().text(track.name))},
                     {{"count", static_cast<double>(track.count), ""},
                      {"first", track.first, ""},
                      {"last", track.last, ""},
                      {"least", track.min, ""},
                      {"most", track.max, ""}});
      line.evidence.sheet = "counters_over_time";
      line.evidence.row = cut_to_bytes(store().text(track.name), 200);
      line.evidence.events = {store().uid(track.first_event)};
      story_.insights.push_back(std::move(line));
    }
  }

  const RunFacts& facts_;
  const WorkLabels& labels_;
  const HardwareIndex& hardware_;
  const PhaseProfiles& profiles_;
  const WorkFilter& is_told_;
  RunStory& story_;
  std::vector<EventId> told_, steps_;   // steps: without what compilers and autotuners launch
  std::optional<HardwareState> state_;  // of the steps, once asked for
  Nanos busy_, whole_;                  // whole: what shares are of
};

}  // namespace

void tell_summary(const RunFacts& facts, const WorkLabels& labels, const HardwareIndex& hardware,
                  const PhaseProfiles& profiles, const WorkFilter& is_told, RunStory& story) {
  SummaryTeller(facts, labels, hardware, profiles, is_told, story).tell();
}

}  // namespace fathom
