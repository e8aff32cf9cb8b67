#include "unit/small_trace.h"

#include <fmt/format.h>

#include "checks.h"
#include "test_files.h"

namespace fathom::test {

std::string event_text(std::string_view category, std::string_view name, int64_t start,
                       int64_t duration, std::string_view args, std::string_view pid,
                       std::string_view tid) {
  return fmt::format(
      R"({{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
      category, name, pid, tid, start, duration, args);
}

std::string cpu_op(std::string_view name, int64_t start, int64_t duration, std::string_view args,
                   std::string_view thread) {
  return event_text("cpu_op", name, start, duration, args, "1", thread);
}

std::string launch_call(int64_t start, int64_t duration, int64_t correlation,
                        std::string_view thread, std::string_view name) {
  return event_text("cuda_runtime", name, start, duration,
                    fmt::format(R"("correlation":{})", correlation), "1", thread);
}

std::string kernel(std::string_view name, int64_t start, int64_t duration, int64_t correlation,
                   int64_t stream, int64_t device) {
  return event_text(
      "kernel", name, start, duration,
      fmt::format(R"("correlation":{},"stream":{},"device":{})", correlation, stream, device),
      std::to_string(device), std::to_string(stream));
}

std::string annotation(std::string_view name, int64_t start, int64_t duration) {
  return event_text("user_annotation", name, start, duration);
}

std::string gpu_annotation(std::string_view name, int64_t start, int64_t duration, int64_t stream) {
  return event_text("gpu_user_annotation", name, start, duration, "", "0", std::to_string(stream));
}

std::string trace_text(const std::vector<std::string>& events) {
  return fmt::format("{{\"traceEvents\":[\n{}\n]}}\n", fmt::join(events, ",\n"));
}

kineto::ReadOptions read_options(size_t threads, size_t chunk_size) {
  kineto::ReadOptions options;
  options.threads = threads;
  options.limits.chunk_size = chunk_size;
  return options;
}

EventStore read_trace_text(std::string_view json) {
  const TemporaryDirectory directory;
  const std::string path = (directory.path() / "trace.json").string();
  write_file(path, json);
  Result<EventStore> store = kineto::read_trace(path, read_options(1, 4 << 20));
  if (!store.ok()) ADD_FAILURE() << store.error().message;
  return store.take();
}

Trace open_events(const std::vector<std::string>& events) {
  EventStore store = read_trace_text(trace_text(events));
  CallTree tree = build_call_tree(store);
  return {"trace.json", std::move(store), std::move(tree)};
}

EventId find_event(const EventStore& store, std::string_view name) {
  for (size_t i = 0; i < store.size(); ++i) {
    if (store.name(EventId(i)) == name) return EventId(i);
  }
  ADD_FAILURE() << "no event named " << name;
  return {};
}

CallId find_call(const Trace& trace, std::string_view name) {
  const EventId event = find_event(trace.store, name);
  return event.valid() ? trace.tree.call(event) : CallId{};
}

std::string parent_name(const Trace& trace, std::string_view name) {
  const CallId parent = trace.tree.parent(find_call(trace, name));
  return parent.valid() ? std::string(trace.store.name(trace.tree.event(parent))) : std::string();
}

std::vector<int64_t> uids(const EventStore& store) {
  std::vector<int64_t> all;
  for (size_t i = 0; i < store.size(); ++i) all.push_back(store.uid(EventId(i)));
  return all;
}

std::vector<std::string> names_of(const EventStore& store, std::span<const EventId> events) {
  std::vector<std::string> names;
  for (EventId e : events) names.emplace_back(store.name(e));
  return names;
}

namespace {

template <typename T>
std::string shown(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "-";
}

std::string shown(const std::optional<Dim3>& d) {
  return d ? fmt::format("[{},{},{}]", d->x, d->y, d->z) : "-";
}

std::string shown(const std::optional<LaunchKey>& key) {
  return key ? fmt::format("{}{}", key->external ? "external " : "", key->id) : "-";
}

std::string describe_detail(const EventStore& store, EventId e) {
  const EventKind kind = store.kind(e);
  if (is_gpu_work(kind)) {
    const GpuWork& w = store.gpu_work(e);
    return fmt::format(
        "key {} device {} stream {} context {} registers {} shared {} bytes {} {} {}", shown(w.key),
        shown(w.device), shown(w.stream), shown(w.context), shown(w.registers),
        shown(w.shared_memory), shown(w.bytes), shown(w.grid), shown(w.block));
  }
  if (is_launch(kind)) return "key " + shown(store.launch(e).key);
  if (kind == EventKind::kPython) {
    const PythonFrame& f = store.frame(e);
    return fmt::format("frame {} {} {}", shown(f.id), shown(f.parent), shown(f.module));
  }
  if (const AutogradFacts* facts = store.autograd(e)) {
    return fmt::format("sequence {} forward thread {}", facts->sequence, facts->forward_thread);
  }
  return {};
}

std::string describe_args(const EventStore& store, EventId e) {
  if (!store.args_id(e).valid()) return {};
  const Args& a = store.args(store.args_id(e));
  return fmt::format("dims {} types {} strides {} concrete {}", store.text(a.dims),
                     store.text(a.types), store.text(a.strides), store.text(a.concrete));
}

std::string describe_collective(const EventStore& store, EventId e) {
  const Collective* c = store.collective(e);
  if (c == nullptr) return {};
  return fmt::format("collective {} {} {} {} {} {} {} of {} in {} out {} rank {} sequence {}",
                     store.text(c->name), store.text(c->dtype), store.text(c->group_name),
                     store.text(c->group_description), store.text(c->group_ranks),
                     store.text(c->in_split), store.text(c->out_split), shown(c->group_size),
                     shown(c->in_elements), shown(c->out_elements), shown(c->rank),
                     shown(c->sequence));
}

std::string describe_track(const EventStore& store, EventId e) {
  if (!store.track_id(e).valid()) return {};
  const Track& t = store.track(e);
  return fmt::format("{}/{} {}|{}|{}", store.text(t.pid), store.text(t.tid),
                     store.text(t.process_name), store.text(t.process_label),
                     store.text(t.thread_name));
}

}  // namespace

std::vector<std::string> describe_events(const EventStore& store) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < store.size(); ++i) {
    const EventId e(i);
    lines.push_back(fmt::format(
        "{}: {} {} +{} {} on {} {} {} {}", store.uid(e), static_cast<int>(store.kind(e)),
        store.start(e).count, store.duration(e).count, store.name(e), describe_track(store, e),
        describe_args(store, e), describe_detail(store, e), describe_collective(store, e)));
  }
  return lines;
}

std::string describe_metadata(const TraceMetadata& m) {
  std::string text;
  for (const GpuProperties& gpu : m.gpus) {
    text +=
        fmt::format("gpu {} {} {} {} {}.{}\n", gpu.id, gpu.name, shown(gpu.multiprocessors),
                    shown(gpu.memory_bytes), shown(gpu.compute_major), shown(gpu.compute_minor));
  }
  return text + fmt::format("rank {} of {} over {}, cuda {}, hip {}, base {}, name {}",
                            shown(m.rank), shown(m.world_size), m.distributed_backend,
                            shown(m.cuda_runtime_version), shown(m.hip_runtime_version),
                            m.base_time ? std::to_string(m.base_time->count) : "-", m.trace_name);
}

std::string describe_diagnostics(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& d : diagnostics.all()) {
    text += fmt::format("{} {} ({})\n", describe(d.flaw).id, d.count, d.example);
  }
  return text;
}

}  // namespace fathom::test
