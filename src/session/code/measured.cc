#include "session/code/measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "base/check.h"
#include "events/timeline_rows.h"
#include "scan/facts/code_names.h"
#include "scan/facts/kernel_identity.h"
#include "session/counters.h"
#include "session/hardware_summary.h"
#include "sheets/stall_sheets.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLinesOfKernel = 5;

// "9.0" → 9 and 0.
void set_capability(const std::string& text, GpuProperties& gpu) {
  const size_t dot = text.find('.');
  if (dot == std::string::npos || dot == 0 || dot > 3 || dot + 2 != text.size()) return;
  if (!std::ranges::all_of(text.substr(0, dot) + text.substr(dot + 1), is_digit)) return;
  gpu.compute_major = std::stoi(text.substr(0, dot));
  gpu.compute_minor = text[dot + 1] - '0';
}

std::string gpu_of(const Trace& trace) {
  const auto& gpus = trace.store.metadata().gpus;
  return gpus.empty() ? std::string() : gpus.front().name;
}

// Of another model of GPU than the one asked for.
std::string other_platform(const Trace& trace, const Platform* asked) {
  const Platform* own = detect_platform(trace);
  if (asked == nullptr || own == nullptr || own->name == asked->name) return {};
  return fmt::format("recorded on {}, not on {} (--platform)", own->name, asked->name);
}

// The op that launched each kernel and shape; none where its launches are of several ops or shapes.
std::vector<std::optional<LaunchingOp>> launching_ops(const SheetInput& input,
                                                      const std::vector<KernelContext>& contexts) {
  const EventStore& store = input.store;
  struct Seen {
    EventId op;
    bool is_one = true;
  };
  std::unordered_map<KernelLaunch, Seen, KernelLaunchHash> seen;
  for (const LaunchGroup& group : group_launches(input)) {
    Seen& one = seen[group.launch];
    for (const EventId event : group.events) {
      const CallId op = input.tree.enclosing_op(input.tree.launch(event));
      if (!op.valid()) {
        one.is_one = false;
        break;
      }
      const EventId call = input.tree.event(op);
      if (!one.op.valid()) one.op = call;
      one.is_one = one.is_one && store.name_id(call) == store.name_id(one.op) &&
                   store.args_id(call) == store.args_id(one.op);
    }
  }
  std::vector<std::optional<LaunchingOp>> out;
  for (const KernelContext& context : contexts) {
    out.emplace_back();
    const auto found = seen.find(context.launch);
    if (found == seen.end() || !found->second.is_one || !found->second.op.valid()) continue;
    const EventId op = found->second.op;
    if (std::optional<OpArgs> arguments = read_op_args(store, store.args_id(op)))
      out.back() = LaunchingOp{std::string(store.name(op)), std::move(*arguments)};
  }
  return out;
}

// The line as the repository has it, where one file of it ends like the path that was compiled.
std::string place_in_code(
    const StalledPlace& place,
    const std::unordered_multimap<std::string_view, std::string_view>& files) {
  if (!place.file) return place.text();
  std::string_view best;
  size_t fits = 0;
  const auto [first, last] = files.equal_range(file_name(*place.file));
  for (auto one = first; one != last; ++one) {
    const std::string_view path = one->second;
    const bool ends =
        *place.file == path || (place.file->size() > path.size() && place.file->ends_with(path) &&
                                (*place.file)[place.file->size() - path.size() - 1] == '/');
    if (!ends || path.size() < best.size()) continue;
    fits = path.size() > best.size() ? 1 : fits + 1;
    best = path;
  }
  return fits == 1 ? fmt::format("{}:{}", best, place.line) : place.text();
}

Result<MeasuredRun> run_of_trace(const Trace& trace, const std::string& shown,
                                 const std::vector<CounterFile>& counters,
                                 const StallSamples* samples, bool has_timeline,
                                 const MeasureRequest& request) {
  MeasuredRun run;
  run.refusal = other_platform(trace, request.platform);
  if (run.refusal.empty()) {
    KernelMeasures measures(trace.store, *request.code);
    if (has_timeline)
      measures.add_counters(trace.store, counters);
    else
      measures.add_counters(CounterJoin::of_its_own_rows(trace.store, counters.front()));
    if (samples != nullptr) measures.add_samples(*samples);
    const Scope scope;
    const SheetInput input(trace.store, trace.tree, scope, std::move(measures));
    const Platform* own = detect_platform(trace);
    const Platform* platform = own != nullptr ? own : request.platform;
    run = measured_run(input, kernel_contexts(input, platform, kMostContexts, has_timeline),
                       *request.code, *request.parameters, platform, request.sources);
    if (samples != nullptr) add_hot_lines(input, *samples, *request.code, run);
  }
  run.file = shown;
  run.gpu = gpu_of(trace);
  run.has_timeline = has_timeline;
  return run;
}

}  // namespace

Trace trace_of_counters(const CounterFile& file) {
  const CounterSet& set = file.set;
  EventStoreBuilder builder;
  TimelineRows rows(builder);
  builder.reserve(set.size());
  int64_t now = 0;
  for (CounterRowId id(0); id.index < set.size(); ++id.index) {
    const CounterRow& row = set.row(id);
    const int64_t device = row.device.value_or(0);
    const std::string_view name = set.text(row.mangled.valid() ? row.mangled : row.kernel);
    const int64_t length = row.duration ? std::max<int64_t>(0, row.duration->count) : 0;
    const auto event = rows.event(EventKind::kKernel, rows.text(name),
                                  rows.stream(device, row.stream), now, now + length);
    CHECK(event);  // rows and events have the same numbers
    now += std::min(length, int64_t{1} << 40) + 1;
    GpuWork work = counted_work(row);
    work.device = small_number(device);
    builder.add(*event, work);
  }
  TraceMetadata metadata;
  metadata.source = set.origin().tool;
  if (!set.origin().gpu.empty()) {
    GpuProperties gpu;
    gpu.name = set.origin().gpu;
    gpu.multiprocessors = set.origin().multiprocessors;
    set_capability(set.origin().capability, gpu);
    metadata.gpus.push_back(std::move(gpu));
  }
  EventStore store = std::move(builder).seal(std::move(metadata), set.origin().input_bytes);
  CallTree tree = build_call_tree(store);
  return Trace{file.name, std::move(store), std::move(tree)};
}

MeasuredRun measured_run(const SheetInput& input, std::vector<KernelContext> contexts,
                         const CodeFacts& code, const Parameters& parameters,
                         const Platform* platform, SourceOutlines* sources) {
  MeasuredRun run;
  run.has_timeline = true;
  size_t refused = 0;
  if (const CounterJoin* join = input.kernels.counters()) {
    for (const CounterJoin::File& file : join->files()) {
      refused += !file.refusal.empty();
      if (run.doubt.empty()) run.doubt = file.doubt;
    }
    if (refused > 0 && refused == join->files().size()) run.refusal = join->files()[0].refusal;
  }
  std::vector<std::optional<LaunchingOp>> ops;
  if (sources != nullptr && input.tree.has_ops()) ops = launching_ops(input, contexts);
  run.compared =
      compare_expected(code, input.kernels, contexts, parameters, platform, ops, sources);
  for (const KernelContext& context : contexts) run.launches += !context.file.empty();
  // Only the longest kernels are looked at: how many more there are is said.
  if (contexts.size() >= kMostContexts) {
    const size_t all = group_launches(input).size();
    run.left_out = all > contexts.size() ? all - contexts.size() : 0;
  }
  run.in_code = run.compared.size();
  run.contexts = std::move(contexts);
  return run;
}

void add_hot_lines(const SheetInput& input, const StallSamples& samples, const CodeFacts& code,
                   MeasuredRun& run) {
  const KernelIdentity identity(code);
  std::unordered_multimap<std::string_view, std::string_view> files;
  for (const SourceFile& file : code.files) files.emplace(file_name(file.path), file.path);
  for (const StalledKernel& kernel : stalled_kernels(input, samples)) {
    const std::vector<size_t> definitions = identity.find(kernel.name);
    if (definitions.size() != 1) continue;
    MeasuredRun::Sampled sampled{definitions[0], std::string(kernel.name), {}};
    for (size_t i = 0; i < std::min(kernel.places.size(), kLinesOfKernel); ++i) {
      const StalledPlace& place = kernel.places[i];
      if (place.stalled == 0) break;
      sampled.lines.push_back(
          {place_in_code(place, files), stall_reasons_text(place),
           100 * static_cast<double>(place.stalled) / static_cast<double>(kernel.samples)});
    }
    if (!sampled.lines.empty()) run.sampled.push_back(std::move(sampled));
  }
}

Result<std::vector<MeasuredRun>> measure_kernels(const MeasureRequest& request) {
  std::vector<MeasuredRun> runs;
  std::vector<CounterFile> counters;
  std::vector<std::string> traces;
  for (const std::string& path : request.files) {
    std::optional<CounterFile> file = TRY(open_counters(path));
    if (file)
      counters.push_back(std::move(*file));
    else
      traces.push_back(path);
  }
  for (const std::string& path : traces) {
    OpenOptions options;
    options.threads = request.threads;
    const Trace trace = TRY(open_trace(path, options));
    std::vector<CounterFile> joined = TRY(open_capture_counters(trace));
    const bool has_own = !joined.empty();
    const std::optional<StallSamples> samples = TRY(open_capture_samples(trace));
    const size_t own = joined.size();
    for (CounterFile& file : counters) joined.push_back(std::move(file));
    Result<MeasuredRun> run = run_of_trace(trace, fs::path(path).filename().string(), joined,
                                           samples ? &*samples : nullptr, true, request);
    for (size_t i = 0; i < counters.size(); ++i) counters[i] = std::move(joined[own + i]);
    runs.push_back(TRY(std::move(run)));
    if (!has_own && counters.empty() && !samples && runs.back().refusal.empty())
      runs.back().refusal = "it has no hardware counters; record with --counters";
  }
  if (!traces.empty()) return runs;
  for (CounterFile& file : counters) {
    const Trace trace = trace_of_counters(file);
    std::vector<CounterFile> one;
    one.push_back(std::move(file));
    runs.push_back(TRY(run_of_trace(trace, one[0].name, one, nullptr, false, request)));
  }
  return runs;
}

}  // namespace fathom
