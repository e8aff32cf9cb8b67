#include "session/code/observe.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <unordered_map>

#include "base/ascii.h"
#include "base/screen_text.h"
#include "report/trace/run_story.h"
#include "session/counters.h"
#include "session/hardware_summary.h"
#include "session/story.h"
#include "session/summarize.h"
#include "sheets/kernel_clocks.h"
#include "sheets/kernel_contexts.h"
#include "sheets/sheets.h"
#include "tree/phases.h"
#include "trial/fit.h"

namespace fathom {
namespace {

// Of one run: the longest kernels, and the most frequent names of others.
constexpr size_t kMostSubjects = 200;
constexpr size_t kMostObserved = 200'000;  // values of one metric of one run

double in_seconds(Nanos time) { return static_cast<double>(time.count) / 1e9; }

class CaptureObserver {
 public:
  CaptureObserver(const Trace& trace, const SheetInput& input, const Platform* platform)
      : trace_(trace), store_(trace.store), input_(input), platform_(platform) {}

  Observations observe() {
    const GpuTimeline timeline = measure_timeline(input_);
    for (size_t i = 0; i < store_.size(); ++i) {
      if (is_gpu_work(store_.kind(EventId(i)))) work_.emplace_back(i);
    }
    if (!work_.empty() && timeline.total.count > 0) {
      put("gpu_events", "", "events", static_cast<double>(work_.size()));
      put("gpu_idle", "", "%", 100 * ratio(timeline.idle, timeline.total));
      put("gpu_busy_time", "", "s", in_seconds(timeline.busy));
      if (timeline.communication.count > 0)
        put("exposed_communication", "", "%",
            100 * ratio(timeline.exposed_communication, timeline.total));
      observe_kernels();
      observe_hardware();
      observe_phases();
    } else {
      out_.notes.emplace_back("the recording has no GPU work");
    }
    observe_ranges();
    observe_numbers();
    if (!work_.empty()) observe_clocks();
    return std::move(out_);
  }

 private:
  void put(std::string metric, std::string subject, std::string unit, std::vector<double> values) {
    if (values.empty()) return;
    if (values.size() > kMostObserved) {
      out_.notes.push_back(fmt::format("{} of {}: the first {} of {} values", metric,
                                       screen_safe(subject), kMostObserved, values.size()));
      values.resize(kMostObserved);
    }
    out_.all.push_back({std::move(metric), std::move(subject), std::move(unit), std::move(values)});
  }
  void put(std::string metric, std::string subject, std::string unit, double value) {
    put(std::move(metric), std::move(subject), std::move(unit), std::vector<double>{value});
  }

  std::vector<EventId> in_time(std::vector<EventId> events) const {
    std::stable_sort(events.begin(), events.end(),
                     [&](EventId a, EventId b) { return store_.start(a) < store_.start(b); });
    return events;
  }

  // Names with the most time first.
  void observe_kernels() {
    std::unordered_map<uint32_t, size_t> place_of;
    std::vector<std::vector<EventId>> groups;
    std::vector<double> totals;
    double all = 0;
    size_t kernels = 0, brief = 0;
    for (const EventId event : in_time(work_)) {
      if (store_.kind(event) != EventKind::kKernel) continue;
      const auto [at, is_new] =
          place_of.try_emplace(static_cast<uint32_t>(store_.name_id(event).index), groups.size());
      if (is_new) groups.emplace_back(), totals.push_back(0);
      groups[at->second].push_back(event);
      const double length = in_seconds(store_.duration(event));
      totals[at->second] += length;
      all += length;
      ++kernels;
      brief += length < 10e-6;
    }
    if (kernels == 0) return;
    put("short_kernels", "", "%",
        100.0 * static_cast<double>(brief) / static_cast<double>(kernels));
    std::vector<size_t> order(groups.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return totals[a] > totals[b]; });
    if (order.size() > kMostSubjects) order.resize(kMostSubjects);
    for (const size_t group : order) {
      const std::string name(store_.name(groups[group].front()));
      std::vector<double> lengths;
      for (const EventId event : groups[group])
        lengths.push_back(in_seconds(store_.duration(event)));
      put("kernel_duration", name, "s", std::move(lengths));
      if (all > 0) put("kernel_share", name, "%", 100 * totals[group] / all);
    }
    observe_gaps();
  }

  // From one kernel's end to the next one's start on its stream.
  void observe_gaps() {
    std::map<std::pair<int32_t, int64_t>, Nanos> last_end;
    std::vector<double> gaps;
    for (const EventId event : in_time(work_)) {
      const GpuWork& work = store_.gpu_work(event);
      const std::pair stream(work.device.value_or(0), work.stream.value_or(0));
      if (const auto before = last_end.find(stream); before != last_end.end()) {
        const Nanos gap = store_.start(event) - before->second;
        if (gap.count >= 0) gaps.push_back(in_seconds(gap));
      }
      last_end[stream] = store_.end(event);
    }
    put("launch_gap", "", "s", std::move(gaps));
  }

  // Means while kernels ran.
  void observe_clocks() {
    const std::optional<KernelClocks> clocks = measure_clocks(input_);
    if (!clocks) return;
    const auto put_known = [&](const char* metric, const char* unit, std::optional<double> value) {
      if (value) put(metric, "", unit, *value);
    };
    put_known("sm_clock", "MHz", clocks->all.mean(0));
    put_known("board_power", "W", clocks->all.mean(2));
    put_known("temperature", "°C", clocks->all.mean(3));
    if (const std::optional<double> slowed = clocks->all.share(clocks->all.slowed))
      put("throttled", "", "%", 100 * *slowed);
  }

  void observe_hardware() {
    struct Column {
      std::string_view metric, unit, value;
      double factor;
    };
    constexpr Column kColumns[] = {{"sm_throughput", "%", "sm_throughput", 1},
                                   {"tensor_pipe", "%", "tensor", 1},
                                   {"dram_throughput", "%", "dram_throughput", 1},
                                   {"l2_hit_rate", "%", "l2_hit", 1},
                                   {"occupancy", "%", "occupancy", 1},
                                   {"issue_rate", "instructions/cycle", "issue", 1},
                                   {"bank_conflicts", "%", "bank_conflicts", 1},
                                   {"local_memory", "B", "local_mb", 1e6},
                                   {"wave_count", "waves", "waves", 1}};
    const std::vector<KernelContext> contexts = launch_contexts(input_, platform_, kMostSubjects);
    // By kernel, the longest first: a pattern of the plan means the first that fits.
    std::map<std::string, size_t> place_of;
    std::vector<std::pair<std::string, std::map<std::string_view, std::vector<double>>>> found;
    for (const KernelContext& kernel : contexts) {
      explain(kernel);
      const auto [place, is_new] = place_of.try_emplace(kernel.name, found.size());
      if (is_new) found.push_back({kernel.name, {}});
      auto& values = found[place->second].second;
      for (const Column& column : kColumns) {
        if (const auto value = kernel.value(column.value))
          values[column.metric].push_back(*value * column.factor);
      }
      const auto sum = [&](std::string_view a, std::string_view b) -> std::optional<double> {
        const auto first = kernel.value(a), second = kernel.value(b);
        if (!first || !second) return std::nullopt;
        return *first + *second;
      };
      if (const auto bytes = sum("dram_read", "dram_written"))
        values["dram_bytes"].push_back(*bytes * 1e6);
      put_share(kernel, "load_sectors", "load_requests", values["sectors_per_load"]);
      put_share(kernel, "store_sectors", "store_requests", values["sectors_per_store"]);
    }
    for (auto& [kernel, values] : found) {
      for (auto& [metric, list] : values) {
        std::string unit = metric.starts_with("sectors") ? "sectors" : "B";
        for (const Column& column : kColumns) {
          if (column.metric == metric) unit = column.unit;
        }
        put(std::string(metric), kernel, unit, std::move(list));
      }
    }
  }

  static void put_share(const KernelContext& kernel, std::string_view part, std::string_view of,
                        std::vector<double>& into) {
    const auto count = kernel.value(part), whole = kernel.value(of);
    if (count && whole && *whole > 0) into.push_back(*count / *whole);
  }

  void explain(const KernelContext& kernel) {
    for (const TestedHypothesis& tested : kernel.tested) {
      if (tested.verdict != Verdict::kConfirmed || !tested.explained_by.empty()) continue;
      out_.causes.push_back({kernel.name, fmt::format("{} ({})", tested.hypothesis->title,
                                                      evidence_text(kernel, tested))});
    }
  }

  void observe_phases() {
    const std::vector<Phase> phases = find_phases(store_, trace_.tree, work_);
    std::vector<Nanos> prefills;
    for (const Phase& phase : phases) {
      if (phase.kind != PhaseKind::kPrefill) continue;
      for (const PhaseRun& run : phase.runs) {
        if (!run.work.empty()) prefills.push_back(run.gpu_begin);
      }
    }
    std::sort(prefills.begin(), prefills.end());
    for (const Phase& phase : phases) {
      if (phase.kind == PhaseKind::kOther) continue;
      const std::string name =
          phase.name.empty() ? std::string(phase_kind_name(phase.kind)) : phase.name;
      std::vector<double> lengths, launches;
      for (const PhaseRun& run : phase.runs) {
        if (run.work.empty()) continue;
        const Nanos begin =
            run.host_begin ? std::min(*run.host_begin, run.gpu_begin) : run.gpu_begin;
        lengths.push_back(in_seconds(run.gpu_end - begin));
        launches.push_back(static_cast<double>(run.work.size()));
      }
      // A request's first token is there when its prefill ends.
      if (phase.kind == PhaseKind::kPrefill) put("ttft", name, "s", lengths);
      if (phase.kind == PhaseKind::kDecode) observe_tokens(phase, name, prefills);
      put("iteration_time", name, "s", std::move(lengths));
      put("launches_per_step", name, "launches", std::move(launches));
    }
  }

  // From the end of one decode step to the end of the next, unless a prefill begins between them. A
  // run of the phase is a step, or several where it is mostly launches of one CUDA graph.
  void observe_tokens(const Phase& phase, const std::string& name,
                      const std::vector<Nanos>& prefills) {
    std::vector<Nanos> ends;
    bool has_graphs = false;
    for (const PhaseRun& run : phase.runs) {
      if (run.work.empty()) continue;
      const std::vector<Nanos> graphs = graph_ends(run);
      has_graphs = has_graphs || !graphs.empty();
      if (graphs.empty())
        ends.push_back(run.gpu_end);
      else
        ends.insert(ends.end(), graphs.begin(), graphs.end());
    }
    std::sort(ends.begin(), ends.end());
    std::vector<double> between, request, growth;
    // Each step of a request has one key more than the one before.
    const auto end_request = [&] {
      std::vector<double> number;
      for (size_t i = 0; i < request.size(); ++i) number.push_back(static_cast<double>(i));
      constexpr size_t kFewest = 8;
      const auto line =
          request.size() < kFewest ? std::nullopt : fit_points(FitKind::kLinear, number, request);
      if (line) growth.push_back(line->b);
      request.clear();
    };
    for (size_t i = 1; i < ends.size(); ++i) {
      const auto next = std::lower_bound(prefills.begin(), prefills.end(), ends[i - 1]);
      if (next != prefills.end() && *next < ends[i]) {
        end_request();
        continue;
      }
      between.push_back(in_seconds(ends[i] - ends[i - 1]));
      request.push_back(between.back());
    }
    end_request();
    if (between.empty()) return;
    put("itl_growth", name, "s", std::move(growth));
    out_.notes.push_back(
        fmt::format("inter-token latency: each {} is taken as one decode step",
                    has_graphs ? "launch of a CUDA graph" : "run of the phase '" + name + "'"));
    put("itl", name, "s", std::move(between));
  }

  // Of the graph that most of a run's time goes to, launched at least twice; else empty.
  std::vector<Nanos> graph_ends(const PhaseRun& run) const {
    std::map<std::string_view, std::pair<Nanos, std::vector<Nanos>>> graphs;
    Nanos all;
    for (const EventId event : run.work) {
      all += store_.duration(event);
      if (!store_.name(event).starts_with("CUDA graph ")) continue;  // source text: a recording's
      auto& [time, ends] = graphs[store_.name(event)];
      time += store_.duration(event);
      ends.push_back(store_.end(event));
    }
    for (const auto& [name, graph] : graphs) {
      if (graph.second.size() >= 2 && 2 * graph.first.count > all.count) return graph.second;
    }
    return {};
  }

  // Ranges of the program, and calls that probes saw. The first is apart: it pays for what the
  // others find done.
  void observe_ranges() {
    std::map<std::string, std::vector<EventId>> ranges;
    for (size_t i = 0; i < store_.size(); ++i) {
      if (store_.kind(EventId(i)) == EventKind::kAnnotation)
        ranges[std::string(store_.name(EventId(i)))].emplace_back(i);
    }
    size_t seen = 0;
    for (auto& [name, events] : ranges) {
      if (seen++ == kMostSubjects) {
        out_.notes.push_back(fmt::format("{} of {} names of ranges", kMostSubjects, ranges.size()));
        break;
      }
      std::vector<double> lengths;
      for (const EventId event : in_time(std::move(events)))
        lengths.push_back(in_seconds(store_.duration(event)));
      if (lengths.size() > 1) {
        put("first_call_time", name, "s", lengths.front());
        put("cached_call_time", name, "s", std::vector<double>(lengths.begin() + 1, lengths.end()));
      }
      put("function_time", name, "s", std::move(lengths));
    }
  }

  // Numbers of probes and of log lines; memory in use.
  void observe_numbers() {
    std::map<std::string, std::vector<double>> numbers;
    double memory = 0;
    bool has_memory = false;
    for (const CounterValue& counter : store_.counters()) {
      if (store_.kind(counter.event) != EventKind::kCounter) continue;
      const std::string_view name = store_.name(counter.event);
      if (name.starts_with("memory in use, GPU")) {  // source text: a recording's
        memory = std::max(memory, counter.value);
        has_memory = true;
        continue;
      }
      // Several under one name are samples of the GPU's parts, which the story tells.
      if (store_.text(counter.name) != "value" || numbers.size() >= kMostSubjects) continue;
      numbers[std::string(name)].push_back(counter.value);
    }
    if (has_memory) put("peak_memory", "", "B", memory);
    for (auto& [name, values] : numbers) {
      // Clocks, power and temperature that the recorder reads are no numbers of the program.
      const bool is_sensor = name.starts_with("GPU ") && name.size() > 4 && is_digit(name[4]);
      put(is_sensor ? "gpu_sensor" : "log_value", name, "number", std::move(values));
    }
  }

  const Trace& trace_;
  const EventStore& store_;
  const SheetInput& input_;
  const Platform* platform_;
  std::vector<EventId> work_;
  Observations out_;
};

}  // namespace

Observations observe_end(const TrialEnd& end) {
  Observations out;
  // As a shell tells it. What is ended at its limit gets SIGTERM, however it then ends.
  const int status = end.kind == EndKind::kExited     ? end.code
                     : end.kind == EndKind::kTimedOut ? 128 + SIGTERM
                                                      : 128 + end.code;
  out.all.push_back({"exit_status", "", "status", {static_cast<double>(status)}});
  out.all.push_back({"wall_time", "", "s", {static_cast<double>(end.wall_ns) / 1e9}});
  out.all.push_back(
      {"cpu_time", "", "s", {static_cast<double>(end.user_ns + end.system_ns) / 1e9}});
  if (end.max_rss_bytes)
    out.all.push_back({"peak_host_memory", "", "B", {static_cast<double>(*end.max_rss_bytes)}});
  return out;
}

Observations observe_log(std::string_view log, const std::vector<LogPattern>& patterns) {
  Observations out;
  std::map<std::string, std::vector<double>> numbers;
  while (!log.empty()) {
    const size_t end = log.find_first_of("\n\r");
    const std::string_view line = log.substr(0, end);
    for (const LogPattern& pattern : patterns) {
      for (const LogPattern::Found& found : pattern.match(line)) {
        std::vector<double>& values = numbers[pattern.names()[found.counter]];
        if (values.size() < kMostObserved) values.push_back(found.value);
      }
    }
    log.remove_prefix(end == std::string_view::npos ? log.size() : end + 1);
  }
  for (auto& [name, values] : numbers)
    out.all.push_back({"log_value", name, "number", std::move(values)});
  return out;
}

void append_observations(Observations& all, Observations more) {
  std::map<std::pair<std::string, std::string>, size_t> places;
  for (size_t i = 0; i < all.all.size(); ++i)
    places.try_emplace({all.all[i].metric, all.all[i].subject}, i);
  for (Observation& one : more.all) {
    const auto [at, is_new] = places.try_emplace({one.metric, one.subject}, all.all.size());
    if (is_new) {
      all.all.push_back(std::move(one));
    } else {
      std::vector<double>& values = all.all[at->second].values;
      values.insert(values.end(), one.values.begin(), one.values.end());
    }
  }
  for (ObservedCause& one : more.causes) all.causes.push_back(std::move(one));
  for (std::string& note : more.notes) all.notes.push_back(std::move(note));
}

Result<ObservedCapture> observe_capture(const std::string& path) {
  const Trace trace = TRY(open_trace(path));
  ObservedCapture observed;
  std::vector<CounterFile> counters = TRY(open_capture_counters(trace));
  const std::optional<StallSamples> samples = TRY(open_capture_samples(trace));
  Scope scope;
  scope.include_unlinked = true;
  KernelMeasures measures;
  if (!counters.empty()) measures.add_counters(trace.store, counters);
  if (samples) measures.add_samples(*samples);
  const SheetInput input(trace.store, trace.tree, scope, std::move(measures));
  observed.observations = CaptureObserver(trace, input, detect_platform(trace)).observe();
  StoryOptions options;
  options.analysis.counters = &counters;
  if (samples) options.analysis.samples = &*samples;
  const Result<RunStory> story = tell_story(trace, scope, options);
  if (!story.ok()) {
    observed.observations.notes.push_back(story.error().message);
    return observed;
  }
  observed.story = story_markdown(story.value(), false);
  const NameStyle plain = [](std::string_view name) { return screen_safe(name); };
  for (const StoryLine& line : story.value().bottlenecks)
    observed.observations.causes.push_back({"", story_sentence(line, plain)});
  return observed;
}

}  // namespace fathom
