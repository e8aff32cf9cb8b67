#include "session/summarize.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "analyze/finding_parts.h"

namespace fathom {

namespace fs = std::filesystem;

std::string gpu_names(const std::vector<GpuProperties>& gpus) {
  std::vector<std::pair<std::string, int>> counts;
  for (const GpuProperties& gpu : gpus) {
    if (gpu.name.empty()) continue;
    if (counts.empty() || counts.back().first != gpu.name) counts.emplace_back(gpu.name, 0);
    ++counts.back().second;
  }
  std::string text;
  for (const auto& [name, count] : counts) {
    if (!text.empty()) text += ", ";
    text += count > 1 ? fmt::format("{} × {}", count, name) : name;
  }
  return text;
}

std::string used_gpu_names(const SheetInput& input) {
  std::set<int64_t> used;
  for (const EventId e : all_selected(input))
    if (const auto device = input.store.gpu_work(e).device) used.insert(*device);
  const std::vector<GpuProperties>& all = input.store.metadata().gpus;
  std::vector<GpuProperties> told;
  for (const GpuProperties& gpu : all)
    if (used.contains(gpu.id)) told.push_back(gpu);
  return gpu_names(told.empty() ? all : told);
}

namespace {

std::string runtime_name(const TraceMetadata& metadata) {
  // 13000 is CUDA 13.0; 60443483 is HIP 6.4.43483.
  if (auto v = metadata.cuda_runtime_version)
    return fmt::format("CUDA {}.{}", *v / 1000, *v % 1000 / 10);
  if (auto v = metadata.hip_runtime_version)
    return fmt::format("HIP {}.{}", *v / 10000000, *v / 100000 % 100);
  return {};
}

Summary::Unlinked measure_unlinked(const SheetInput& input) {
  Summary::Unlinked unlinked;
  Nanos all;
  for (EventId e : input.selection.linked()) all += input.store.duration(e);
  for (EventId e : input.selection.unlinked()) unlinked.time += input.store.duration(e);
  all += unlinked.time;
  unlinked.events = static_cast<int64_t>(input.selection.unlinked().size());
  unlinked.of_gpu = ratio(unlinked.time, all);
  unlinked.included = input.scope.include_unlinked;
  return unlinked;
}

// The ops of the reports, by the names that `fathom replay pack` takes.
std::vector<Summary::Op> summarize_ops(const Assessment& assessment) {
  std::vector<Summary::Op> ops;
  for (const TopOp& op : assessment.ops_by_name()) {
    ops.push_back({std::string(op.name), std::string(op.category), static_cast<int64_t>(op.calls),
                   op.time.millis(), op.share * 100});
  }
  return ops;
}

std::optional<Summary::Cpu> summarize_cpu(const Assessment& assessment) {
  const CpuOps* ops = assessment.cpu();
  if (ops == nullptr) return {};
  Summary::Cpu cpu{ops->length(), ops->self(), {}};
  for (const CpuOp& op : ops->by_name()) {
    cpu.ops.push_back({std::string(assessment.input().store.text(op.name)),
                       shapes_text(assessment.input(), op.first), static_cast<int64_t>(op.calls),
                       op.self.millis(), ratio(op.self, ops->self()) * 100});
  }
  return cpu;
}

std::optional<Summary::Host> summarize_host(const Assessment& assessment) {
  const HostActivity* activity = assessment.host();
  if (activity == nullptr) return {};
  const EventStore& store = assessment.input().store;
  Summary::Host host{activity->length, {}, {}, static_cast<int64_t>(activity->left_out)};
  for (const HostRange& range : activity->ranges) {
    host.ranges.push_back({std::string(store.text(range.name)), range.count, range.total.millis(),
                           range.median.millis(), range.most.millis(),
                           ratio(range.total, activity->length) * 100});
  }
  for (const CounterTrack& track : activity->counters) {
    // One value of an event needs no second name.
    std::string name(store.text(track.name));
    if (const std::string_view counter = store.text(track.counter); counter != "value")
      name += fmt::format(" {}", counter);
    std::vector<std::optional<double>> means;
    for (const CounterTrack::Part& part : track.parts)
      means.push_back(part.count > 0 ? std::optional(part.mean) : std::nullopt);
    host.counters.push_back({std::move(name), track.count, track.first, track.last, track.min,
                             track.mean, track.max, std::move(means)});
  }
  return host;
}

std::string describe_scope(const Scope& scope, const std::vector<std::string>& steps) {
  std::vector<std::string> parts;
  if (scope.steps && scope.steps->begin < steps.size()) {
    const size_t last = std::min(scope.steps->end, steps.size()) - 1;
    const std::string names = scope.steps->begin == last
                                  ? fmt::format("step {} ({})", last, steps[last])
                                  : fmt::format("steps {} to {} ({} … {})", scope.steps->begin,
                                                last, steps[scope.steps->begin], steps[last]);
    parts.push_back(fmt::format("{} of 0 to {}", names, steps.size() - 1));
  }
  if (scope.device) parts.push_back(fmt::format("GPU {}", *scope.device));
  return fmt::format("{}", fmt::join(parts, "; "));
}

// Ranges that may be steps: of each name the time that all take, as far as there are many names.
std::vector<std::string> longest_ranges(const EventStore& store) {
  constexpr size_t kNamed = 4;  // one more than are shown
  std::map<StringId, Nanos> times;
  for (size_t i = 0; i < store.size(); ++i) {
    const EventId e(i);
    if (store.kind(e) == EventKind::kAnnotation) times[store.name_id(e)] += store.duration(e);
  }
  std::vector<std::pair<std::string_view, Nanos>> sorted;
  for (const auto& [name, time] : times) sorted.emplace_back(store.text(name), time);
  std::ranges::sort(sorted, [](const auto& a, const auto& b) {
    return std::tie(b.second, a.first) < std::tie(a.second, b.first);
  });
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(kNamed, sorted.size()); ++i) names.emplace_back(sorted[i].first);
  return names;
}

Summary summarize_trace(const Trace& trace, const SheetInput& input) {
  const EventStore& store = trace.store;
  Summary s;
  s.trace = trace.path == "-" ? "standard input" : fs::path(trace.path).filename().string();
  s.source = trace.source();
  s.gpu = used_gpu_names(input);
  s.runtime = runtime_name(store.metadata());
  s.rank = store.metadata().rank;
  s.world_size = store.metadata().world_size;
  s.events = store.entries();
  s.gpu_events =
      static_cast<int64_t>(input.selection.linked().size() + input.selection.unlinked().size());
  s.input_bytes = store.input_bytes();
  const Steps steps(store, input.scope.step_pattern);
  for (const Step& step : steps.all()) s.steps.emplace_back(store.name(step.annotation));
  s.scope = describe_scope(input.scope, s.steps);
  s.timeline = measure_timeline(input);
  s.unlinked = measure_unlinked(input);
  s.has_ops = trace.tree.has_ops();
  s.has_launches = trace.tree.has_launches();
  for (size_t i = 0; i < store.size() && !s.has_frames; ++i) {
    s.has_frames = store.kind(EventId(i)) == EventKind::kPython;
  }
  if (s.steps.empty()) s.ranges = longest_ranges(store);
  Diagnostics diagnostics = store.diagnostics();
  diagnostics.merge(trace.tree.diagnostics());
  s.skipped_events = diagnostics.skipped_events();
  s.diagnostics = diagnostics.all();
  return s;
}

void add_findings(const Trace& trace, const Assessment& assessment,
                  const std::vector<Finding>& findings, Summary& summary) {
  if (assessment.platform() != nullptr) {
    summary.platform = assessment.platform()->name;
    const Platform* own = detect_platform(trace);
    if (own != nullptr && own->name != summary.platform) {
      summary.recorded_on = own->name;
    }
    summary.has_costs = std::ranges::any_of(
        assessment.ops(), [](const AssessedOp& op) { return op.group->cost.has_value(); });
    summary.known_share = assessment.known_share();
  } else {
    for (const Platform* fitting : fitting_platforms(trace))
      summary.fitting_platforms.push_back(fitting->name);
  }
  summary.coverage = measure_coverage(assessment);
  for (const Finding& f : findings) {
    summary.findings.push_back({std::string(kind_name(f.kind)), f.priority, f.title, f.subject,
                                ratio(f.saving_at_least, assessment.length()) * 100,
                                ratio(f.saving_at_most, assessment.length()) * 100, f.places,
                                f.under});
  }
}

std::vector<Summary::IdlePart> summarize_idle(const IdleTime& idle) {
  std::vector<Summary::IdlePart> parts;
  for (size_t c = 0; c < kIdleCauses; ++c) {
    const auto cause = static_cast<IdleCause>(c);
    if (const Nanos time = idle.time(cause); time.count > 0)
      parts.push_back({idle_cause_name(cause), time});
  }
  std::ranges::stable_sort(parts, [](const auto& x, const auto& y) { return y.time < x.time; });
  return parts;
}

std::string gpus_with_work(const EventStore& store) {
  std::set<int32_t> devices;
  for (size_t i = 0; i < store.size(); ++i) {
    if (!is_gpu_work(store.kind(EventId(i)))) continue;
    if (const auto device = store.gpu_work(EventId(i)).device) devices.insert(*device);
  }
  return devices.empty() ? "none" : fmt::format("{}", fmt::join(devices, ", "));
}

}  // namespace

Status check_scope(const SheetInput& input, const std::string& path) {
  const Scope& scope = input.scope;
  if (scope.device && !scope.steps && all_selected(input).empty()) {
    return Error{fmt::format("{} has no work on GPU {}; it has work on GPU {}", path, *scope.device,
                             gpus_with_work(input.store))};
  }
  return Nothing{};
}

Summary summarize(const Trace& trace, const SheetInput& input) {
  Summary summary = summarize_trace(trace, input);
  summary.base = find_time_base(input, work_by_device(input));
  return summary;
}

Summary summarize(const Trace& trace, const Assessment& assessment,
                  const std::vector<Finding>& findings, const CodeCoverage* code) {
  Summary summary = summarize_trace(trace, assessment.input());
  summary.base = assessment.base();
  summary.idle = summarize_idle(assessment.idle());
  summary.slow_step = find_slow_step(assessment);
  summary.ops = summarize_ops(assessment);
  summary.cpu = summarize_cpu(assessment);
  summary.host = summarize_host(assessment);
  if (summary.host) summary.ranges.clear();  // they have a table
  add_findings(trace, assessment, findings, summary);
  if (code != nullptr) {
    summary.sources = {code->repository, 100 * ratio(code->found, code->total),
                       100 * ratio(code->ambiguous, code->total)};
  }
  return summary;
}

}  // namespace fathom
