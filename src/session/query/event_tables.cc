// Tables whose rows are events: events, kernels, launches, samples, collectives.
#include <algorithm>
#include <memory>
#include <utility>

#include "session/query/trace_tables.h"
#include "sheets/collectives.h"

namespace fathom {
namespace {

using EventList = std::shared_ptr<const std::vector<EventId>>;

std::string_view event_kind(EventKind kind) {
  switch (kind) {
    case EventKind::kCpuOp:
      return "cpu_op";
    case EventKind::kRuntime:
      return "runtime";
    case EventKind::kDriver:
      return "driver";
    case EventKind::kKernel:
      return "kernel";
    case EventKind::kMemcpy:
      return "memcpy";
    case EventKind::kMemset:
      return "memset";
    case EventKind::kPython:
      return "python";
    case EventKind::kAnnotation:
      return "annotation";
    case EventKind::kGpuAnnotation:
      return "gpu_annotation";
    case EventKind::kInstant:
      return "instant";
    case EventKind::kCounter:
      return "counter";
    case EventKind::kProfilerRange:
      return "profiler_range";
    case EventKind::kOther:
      break;
  }
  return "other";
}

// Columns that any table of events has. `event_of(row)` is the row's.
template <typename EventOf>
class EventRowColumns {
 public:
  EventRowColumns(RowMaker& table, const EventStore& store, EventOf event_of)
      : t_(table), s_(store), event_of_(std::move(event_of)) {}

  void uid() {
    t_.add("uid", [&s = s_, of = event_of_](size_t r, CellSink& c) { c.integer(s.uid(of(r))); });
  }
  void kind() {
    t_.add("kind",
           [&s = s_, of = event_of_](size_t r, CellSink& c) { c.text(event_kind(s.kind(of(r)))); });
  }
  void name() {
    t_.add("name", [&s = s_, of = event_of_](size_t r, CellSink& c) { c.text(s.name(of(r))); });
  }
  void times() {
    t_.add("start_ns",
           [&s = s_, of = event_of_](size_t r, CellSink& c) { c.integer(s.start(of(r)).count); });
    t_.add("duration_ns", [&s = s_, of = event_of_](size_t r, CellSink& c) {
      c.integer(s.duration(of(r)).count);
    });
  }
  // A text of the event's track.
  void track(std::string_view column, StringId Track::* member) {
    t_.add(column, [&s = s_, of = event_of_, member](size_t r, CellSink& c) {
      put_text(c, s.text(s.track(of(r)).*member));
    });
  }
  // A text of what the event was called with.
  void args(std::string_view column, StringId Args::* member) {
    t_.add(column, [&s = s_, of = event_of_, member](size_t r, CellSink& c) {
      const ArgsId id = s.args_id(of(r));
      put_text(c, id.valid() ? s.text(s.args(id).*member) : std::string_view());
    });
  }
  // Something of GPU work; unknown of other events.
  template <typename Value>
  void work(std::string_view column, Value value) {
    t_.add(column, [&s = s_, of = event_of_, value](size_t r, CellSink& c) {
      const EventId e = of(r);
      is_gpu_work(s.kind(e)) ? c.put(value(s.gpu_work(e))) : c.unknown();
    });
  }
  // The op at or above the call that `call_of(event)` names.
  template <typename CallOf>
  void op(const CallTree& tree, CallOf call_of) {
    const auto op_of = [&tree, of = event_of_, call_of](size_t r) {
      const CallId op = tree.enclosing_op(call_of(of(r)));
      return op.valid() ? tree.event(op) : EventId();
    };
    t_.add("op", [&s = s_, op_of](size_t r, CellSink& c) {
      const EventId op = op_of(r);
      op.valid() ? c.text(s.name(op)) : c.unknown();
    });
    t_.add("op_uid", [&s = s_, op_of](size_t r, CellSink& c) {
      const EventId op = op_of(r);
      op.valid() ? c.integer(s.uid(op)) : c.unknown();
    });
  }

 private:
  RowMaker& t_;
  const EventStore& s_;
  EventOf event_of_;
};

template <typename EventOf>
EventRowColumns<EventOf> event_columns(RowMaker& table, const EventStore& store, EventOf of) {
  return {table, store, std::move(of)};
}

auto listed(EventList list) {
  return [list = std::move(list)](size_t row) { return (*list)[row]; };
}

using Part = uint32_t Dim3::*;
auto part_of(std::optional<Dim3> GpuWork::* dims, Part part) {
  return [dims, part](const GpuWork& w) -> std::optional<int64_t> {
    if (!(w.*dims)) return {};
    return (*(w.*dims)).*part;
  };
}

}  // namespace

RowTable events_rows(const TraceModel& model) {
  RowMaker t("events", model.store().size());
  auto columns = event_columns(t, model.store(), [](size_t row) { return EventId(row); });
  columns.uid();
  columns.kind();
  columns.name();
  columns.times();
  columns.track("process", &Track::pid);
  columns.track("process_name", &Track::process_name);
  columns.track("thread", &Track::tid);
  columns.track("thread_name", &Track::thread_name);
  columns.args("input_dims", &Args::dims);
  columns.args("input_types", &Args::types);
  return t.take();
}

RowTable kernels_rows(const TraceModel& model) {
  const EventStore& store = model.store();
  const CallTree& tree = model.tree();
  std::vector<EventId> work = all_selected(model.input());
  std::ranges::sort(work);
  const auto list = std::make_shared<const std::vector<EventId>>(std::move(work));
  RowMaker t("kernels", list->size());
  auto columns = event_columns(t, store, listed(list));
  columns.uid();
  columns.kind();
  columns.name();
  columns.times();
  columns.work("device", [](const GpuWork& w) { return w.device; });
  columns.work("stream", [](const GpuWork& w) { return w.stream; });
  t.add("step", [&model, list](size_t r, CellSink& c) {
    c.put(model.step_at(model.store().start((*list)[r])));
  });
  const auto launch_of = [&tree](EventId e) {
    return tree.has_launches() ? tree.launch(e) : CallId();
  };
  columns.op(tree, launch_of);
  t.add("launch_uid", [&store, &tree, list, launch_of](size_t r, CellSink& c) {
    const CallId call = launch_of((*list)[r]);
    call.valid() ? c.integer(store.uid(tree.event(call))) : c.unknown();
  });
  t.add("is_communication", [&model, list](size_t r, CellSink& c) {
    c.truth(model.input().selection.is_communication((*list)[r]));
  });
  columns.work("correlation", [](const GpuWork& w) -> std::optional<int64_t> {
    if (!w.key) return {};
    return w.key->id;
  });
  columns.work("grid_x", part_of(&GpuWork::grid, &Dim3::x));
  columns.work("grid_y", part_of(&GpuWork::grid, &Dim3::y));
  columns.work("grid_z", part_of(&GpuWork::grid, &Dim3::z));
  columns.work("block_x", part_of(&GpuWork::block, &Dim3::x));
  columns.work("block_y", part_of(&GpuWork::block, &Dim3::y));
  columns.work("block_z", part_of(&GpuWork::block, &Dim3::z));
  columns.work("registers", [](const GpuWork& w) { return w.registers; });
  columns.work("shared_bytes", [](const GpuWork& w) { return w.shared_memory; });
  columns.work("bytes", [](const GpuWork& w) { return w.bytes; });
  return t.take();
}

RowTable launches_rows(const TraceModel& model) {
  const EventStore& store = model.store();
  const CallTree& tree = model.tree();
  std::vector<EventId> calls;
  if (tree.has_launches()) {
    for (size_t i = 0; i < tree.size(); ++i) {
      const CallId call(i);
      if (model.input().selection.any(tree.launched_by(call))) calls.push_back(tree.event(call));
    }
  }
  std::ranges::sort(calls);
  const auto list = std::make_shared<const std::vector<EventId>>(std::move(calls));
  const auto launched = [&model, &tree](EventId e) {
    return model.input().selection.among(tree.launched_by(tree.call(e)));
  };
  RowMaker t("launches", list->size());
  auto columns = event_columns(t, store, listed(list));
  columns.uid();
  columns.name();
  columns.times();
  columns.track("thread", &Track::tid);
  columns.op(tree, [&tree](EventId e) { return tree.call(e); });
  t.add("frame", [&store, &tree, list](size_t r, CellSink& c) {
    const EventId frame = tree.frame(tree.call((*list)[r]));
    frame.valid() ? c.text(store.name(frame)) : c.unknown();
  });
  t.add("work", [launched, list](size_t r, CellSink& c) {
    c.integer(static_cast<int64_t>(launched((*list)[r]).size()));
  });
  t.add("first_uid", [&store, launched, list](size_t r, CellSink& c) {
    c.integer(store.uid(launched((*list)[r]).front()));
  });
  t.add("delay_ns", [&store, launched, list](size_t r, CellSink& c) {
    const EventId call = (*list)[r];
    c.integer((store.start(launched(call).front()) - store.start(call)).count);
  });
  return t.take();
}

RowTable samples_rows(const TraceModel& model) {
  const EventStore& store = model.store();
  const std::span<const CounterValue> values = store.counters();
  RowMaker t("samples", values.size());
  t.add("uid", [&store, values](size_t r, CellSink& c) { c.integer(store.uid(values[r].event)); });
  t.add("time_ns",
        [&store, values](size_t r, CellSink& c) { c.integer(store.start(values[r].event).count); });
  t.add("name", [&store, values](size_t r, CellSink& c) { c.text(store.name(values[r].event)); });
  t.add("series", [&store, values](size_t r, CellSink& c) { c.text(store.text(values[r].name)); });
  t.add("value", [values](size_t r, CellSink& c) { c.real(values[r].value); });
  return t.take();
}

RowTable collectives_rows(const TraceModel& model) {
  const EventStore& store = model.store();
  std::vector<EventId> events;
  for (const EventId e : all_selected(model.input()))
    if (store.collective(e) != nullptr || model.input().selection.is_communication(e))
      events.push_back(e);
  for (const Collective& collective : store.collectives())
    if (!is_gpu_work(store.kind(collective.event))) events.push_back(collective.event);
  std::ranges::sort(events);
  const auto list = std::make_shared<const std::vector<EventId>>(std::move(events));
  RowMaker t("collectives", list->size());
  auto columns = event_columns(t, store, listed(list));
  const auto text = [&](std::string_view column, StringId Collective::* member) {
    t.add(column, [&store, list, member](size_t r, CellSink& c) {
      const Collective* facts = store.collective((*list)[r]);
      put_text(c, facts != nullptr ? store.text(facts->*member) : std::string_view());
    });
  };
  const auto number = [&](std::string_view column, std::optional<int64_t> Collective::* member) {
    t.add(column, [&store, list, member](size_t r, CellSink& c) {
      const Collective* facts = store.collective((*list)[r]);
      facts != nullptr ? c.put(facts->*member) : c.unknown();
    });
  };
  // In bytes, or in gigabytes for each second.
  const auto moved = [&](std::string_view column, std::optional<double> CollectiveMessage::* member,
                         bool as_rate) {
    t.add(column, [&store, list, member, as_rate](size_t r, CellSink& c) {
      const EventId e = (*list)[r];
      const Collective* facts = store.collective(e);
      std::optional<double> bytes;
      if (facts != nullptr) bytes = message_of(store, *facts).*member;
      const auto nanos = static_cast<double>(store.duration(e).count);
      if (bytes && as_rate && nanos <= 0) bytes.reset();
      if (bytes && as_rate) *bytes /= nanos;
      c.put(bytes);
    });
  };
  columns.uid();
  columns.kind();
  columns.name();
  text("collective", &Collective::name);
  columns.times();
  columns.work("device", [](const GpuWork& w) { return w.device; });
  columns.work("stream", [](const GpuWork& w) { return w.stream; });
  text("dtype", &Collective::dtype);
  text("group_name", &Collective::group_name);
  text("group_description", &Collective::group_description);
  number("group_size", &Collective::group_size);
  text("group_ranks", &Collective::group_ranks);
  number("rank", &Collective::rank);
  number("sequence", &Collective::sequence);
  number("in_elements", &Collective::in_elements);
  number("out_elements", &Collective::out_elements);
  moved("bytes", &CollectiveMessage::bytes, false);
  moved("bus_bytes", &CollectiveMessage::bus_bytes, false);
  moved("algorithm_gb_s", &CollectiveMessage::bytes, true);
  moved("bus_gb_s", &CollectiveMessage::bus_bytes, true);
  return t.take();
}

}  // namespace fathom
