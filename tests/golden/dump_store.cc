#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "golden/dump.h"

namespace fathom::test {
namespace {

struct EventKindName {
  EventKind kind;
  const char* name;
};

// The kinds that some stage reads; arrows, names and what was skipped show in what they lead to.
constexpr EventKindName kEventKinds[] = {
    {EventKind::kOther, "other"},
    {EventKind::kCpuOp, "cpu_op"},
    {EventKind::kRuntime, "runtime"},
    {EventKind::kDriver, "driver"},
    {EventKind::kKernel, "kernel"},
    {EventKind::kMemcpy, "memcpy"},
    {EventKind::kMemset, "memset"},
    {EventKind::kPython, "python"},
    {EventKind::kAnnotation, "annotation"},
    {EventKind::kGpuAnnotation, "gpu_annotation"},
    {EventKind::kInstant, "instant"},
    {EventKind::kCounter, "counter"},
    {EventKind::kProfilerRange, "profiler_range"},
};

void add_key(Digest& digest, const std::optional<LaunchKey>& key) {
  digest.add(key ? std::optional(key->id) : std::nullopt).add(int64_t{key && key->external});
}

void add_size(Digest& digest, const std::optional<Dim3>& size) {
  digest.add(size ? fmt::format("{} {} {}", size->x, size->y, size->z) : "unknown");
}

void add_details(Digest& digest, const EventStore& store, EventId event) {
  const EventKind kind = store.kind(event);
  if (is_gpu_work(kind)) {
    const GpuWork& work = store.gpu_work(event);
    add_key(digest, work.key);
    digest.add(work.device).add(work.stream).add(work.context).add(work.registers);
    digest.add(work.shared_memory).add(work.bytes);
    add_size(digest, work.grid);
    add_size(digest, work.block);
  } else if (is_launch(kind)) {
    add_key(digest, store.launch(event).key);
  } else if (kind == EventKind::kPython) {
    const PythonFrame& frame = store.frame(event);
    digest.add(frame.id).add(frame.parent).add(frame.module);
  } else if (const AutogradFacts* facts = store.autograd(event)) {
    digest.add(facts->sequence).add(facts->forward_thread);
  }
}

struct KindTotals {
  std::vector<EventId> events;
  Nanos time;
  std::set<StringId> names;
  Digest digest;
};

KindTotals total_kind(const EventStore& store, EventKind kind) {
  KindTotals totals;
  for (size_t i = 0; i < store.size(); ++i) {
    const EventId event(i);
    if (store.kind(event) != kind) continue;
    totals.events.push_back(event);
    totals.time += store.duration(event);
    totals.names.insert(store.name_id(event));
    totals.digest.add(position(store, event)).add(store.start(event).count);
    totals.digest.add(store.duration(event).count).add(store.name(event));
    totals.digest.add(store.text(store.track(event).pid)).add(store.text(store.track(event).tid));
    if (const ArgsId id = store.args_id(event); id.valid()) {
      const Args& args = store.args(id);
      for (StringId field : {args.dims, args.types, args.strides, args.concrete})
        totals.digest.add(store.text(field));
    }
    add_details(totals.digest, store, event);
  }
  return totals;
}

std::string show_event(const EventStore& store, std::string_view kind, EventId event) {
  std::string line =
      fmt::format("  {:<14} {:>6}  {} + {} us  {}/{}  {}", kind, position(store, event),
                  exact_decimal(store.start(event).count, 3),
                  exact_decimal(store.duration(event).count, 3), store.text(store.track(event).pid),
                  store.text(store.track(event).tid), cut_name(store.name(event)));
  if (const ArgsId id = store.args_id(event); id.valid()) {
    line += fmt::format("  {} {}", cut_name(store.text(store.args(id).dims)),
                        cut_name(store.text(store.args(id).types)));
  }
  if (is_gpu_work(store.kind(event))) {
    const GpuWork& w = store.gpu_work(event);
    line += fmt::format("  device {} stream {}", w.device.value_or(-1), w.stream.value_or(-1));
  }
  return line + "\n";
}

std::string show_tracks(const EventStore& store) {
  std::map<std::pair<std::string_view, std::string_view>, std::pair<const Track*, int64_t>> tracks;
  for (size_t i = 0; i < store.size(); ++i) {
    const EventId event(i);
    const bool shown = std::ranges::any_of(
        kEventKinds, [&](const EventKindName& row) { return row.kind == store.kind(event); });
    if (!shown) continue;
    const Track& track = store.track(event);
    auto& [where, events] = tracks[{store.text(track.pid), store.text(track.tid)}];
    where = &track;
    ++events;
  }
  std::string out = "\ntracks with events\n";
  for (const auto& [ids, found] : tracks) {
    const auto& [track, events] = found;
    out += fmt::format("  {}/{}  process \"{}\" label \"{}\" thread \"{}\"  {} events\n", ids.first,
                       ids.second, store.text(track->process_name),
                       store.text(track->process_label), store.text(track->thread_name), events);
  }
  return out;
}

std::string show_metadata(const TraceMetadata& m) {
  const auto number = [](const std::optional<int64_t>& value) {
    return value ? std::to_string(*value) : std::string("unknown");
  };
  std::string out = "\nmetadata\n";
  for (const GpuProperties& gpu : m.gpus) {
    out += fmt::format("  gpu {}: {}, {} multiprocessors, {} bytes, compute {}.{}\n", gpu.id,
                       gpu.name, number(gpu.multiprocessors), number(gpu.memory_bytes),
                       number(gpu.compute_major), number(gpu.compute_minor));
  }
  out += fmt::format("  rank {} of {}, backend \"{}\"\n", number(m.rank), number(m.world_size),
                     m.distributed_backend);
  out += fmt::format("  cuda {}, hip {}, name \"{}\", base time {}\n",
                     number(m.cuda_runtime_version), number(m.hip_runtime_version), m.trace_name,
                     m.base_time ? std::to_string(m.base_time->count) : "unknown");
  return out;
}

std::string show_collectives(const EventStore& store) {
  std::string out = fmt::format("\ncollectives {}\n", store.collectives().size());
  for (const Collective& c : store.collectives()) {
    out += fmt::format("  {} {} {} x {} -> {} of group \"{}\" ({}, {} ranks {})\n",
                       position(store, c.event), store.text(c.name), store.text(c.dtype),
                       c.in_elements.value_or(-1), c.out_elements.value_or(-1),
                       store.text(c.group_name), store.text(c.group_description),
                       c.group_size.value_or(-1), store.text(c.group_ranks));
  }
  return out;
}

}  // namespace

std::string dump_store(const EventStore& store) {
  std::string out = fmt::format("entries {}\ninput bytes {}\nunique args {}\n", entries(store),
                                store.input_bytes(), store.args_count());
  out += fmt::format("\n{:<14} {:>7} {:>16} {:>6}  digest of every field\n", "kind", "events",
                     "time us", "names");
  std::string samples = "\nthe first of each kind, the middle one and the last\n";
  for (const auto& [kind, name] : kEventKinds) {
    const KindTotals totals = total_kind(store, kind);
    const std::vector<EventId>& events = totals.events;
    if (events.empty()) continue;
    out +=
        fmt::format("{:<14} {:>7} {:>16} {:>6}  {}\n", name, events.size(),
                    exact_decimal(totals.time.count, 3), totals.names.size(), totals.digest.text());
    for (EventId event : std::set{events.front(), events[events.size() / 2], events.back()})
      samples += show_event(store, name, event);
  }
  out += samples;
  out += show_tracks(store) + show_metadata(store.metadata()) + show_collectives(store);
  out += "\ndiagnostics\n";
  for (const Diagnostic& d : store.diagnostics().all()) {
    out += fmt::format("  {} {}, first: {}\n", describe(d.flaw).id, d.count, d.example);
  }
  return out;
}

}  // namespace fathom::test
