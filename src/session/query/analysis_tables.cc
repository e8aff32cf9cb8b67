// Tables of what an analysis finds: run, steps, ops, op_calls, gaps, findings, places.
#include <algorithm>
#include <filesystem>
#include <memory>

#include "analyze/ranks/rank_facts.h"
#include "base/ascii.h"
#include "session/query/schema.h"
#include "session/query/trace_tables.h"
#include "session/summarize.h"

namespace fathom {
namespace {

std::optional<double> percent(const std::optional<double>& share) {
  if (!share) return {};
  return *share * 100;
}

// The column of a text member; an empty text is unknown.
template <typename Row>
auto text_of(const std::vector<Row>& rows, std::string Row::* member) {
  return [&rows, member](size_t r, CellSink& c) { put_text(c, rows[r].*member); };
}
template <typename Row>
auto nanos_of(const std::vector<Row>& rows, Nanos Row::* member) {
  return [&rows, member](size_t r, CellSink& c) { c.integer((rows[r].*member).count); };
}

struct StepOfDevice {
  size_t step;
  const DeviceIdle* device;  // null: the trace has no GPU work
};

struct GapRow {
  std::optional<int32_t> device;
  const IdleStretch* stretch;
};

struct CallRow {
  size_t op;
  const UnifiedOp* call;
  Nanos gpu;
};

// How much of the time up to a moment collectives of the host run, as `--together` counts them.
class HostCommunication {
 public:
  explicit HostCommunication(const EventStore& store) {
    for (const Collective& c : store.collectives()) {
      if (store.kind(c.event) == EventKind::kAnnotation)
        intervals_.push_back({store.start(c.event), store.end(c.event)});
    }
    intervals_ = merge_intervals(std::move(intervals_));
    for (const Interval& when : intervals_) {
      before_.push_back(sum_);
      sum_ += when.end - when.begin;
    }
  }
  Nanos until(Nanos time) const {
    const auto after = std::ranges::lower_bound(intervals_, time, {}, &Interval::begin);
    if (after == intervals_.begin()) return {};
    const auto last = after - 1;
    return before_[static_cast<size_t>(last - intervals_.begin())] +
           (std::min(time, last->end) - last->begin);
  }

 private:
  std::vector<Interval> intervals_;  // disjoint, in order
  std::vector<Nanos> before_;        // sum of those before each
  Nanos sum_;
};

// The numbers at the end of the steps' names, "ProfilerStep#12": 12. Unknown unless they grow.
std::vector<std::optional<int64_t>> step_numbers(const EventStore& store, const TimeBase& base) {
  std::vector<std::optional<int64_t>> numbers;
  std::optional<int64_t> last;
  for (const BaseStep& step : base.steps) {
    const std::optional<int64_t> number =
        step.annotation.valid() ? number_at_end(store.name(step.annotation)) : std::nullopt;
    if (!number || (last && *number <= *last))
      return std::vector<std::optional<int64_t>>(base.steps.size());
    numbers.push_back(number);
    last = number;
  }
  return numbers;
}

struct PlaceRow {
  size_t finding;
  const Place* place;
};

// "node7_4711.1700000000000.pt.trace.json.gz" → "node7"; empty: the name is another.
std::string host_in_name(std::string_view name) {
  const size_t end = name.find(".pt.trace.json");
  const size_t dot = end == std::string_view::npos ? end : name.find('.', name.rfind('_', end));
  if (dot == std::string_view::npos || dot >= end) return {};
  const size_t low = name.rfind('_', dot);
  if (low == std::string_view::npos || low == 0 || low + 1 == dot || dot + 1 == end) return {};
  const auto digits = [&](size_t from, size_t to) {
    return std::ranges::all_of(name.substr(from, to - from), is_digit);
  };
  return digits(low + 1, dot) && digits(dot + 1, end) ? std::string(name.substr(0, low))
                                                      : std::string();
}

}  // namespace

RowTable run_rows(const TraceModel& model) {
  RowMaker t("run", 1);
  const TraceMetadata& metadata = model.store().metadata();
  t.add("trace", [&model](size_t, CellSink& c) {
    put_text(c, std::filesystem::path(model.opened().trace.path).filename().string());
  });
  t.add("recorded_by", [&metadata](size_t, CellSink& c) { put_text(c, metadata.source); });
  t.add("gpu", [&model](size_t, CellSink& c) { put_text(c, used_gpu_names(model.input())); });
  t.add("rank", [&](size_t, CellSink& c) {
    c.put(metadata.rank ? metadata.rank : rank_in_name(model.opened().trace.path));
  });
  t.add("world_size", [&metadata](size_t, CellSink& c) { c.put(metadata.world_size); });
  t.add("host", [&model](size_t, CellSink& c) {
    put_text(c, host_in_name(std::filesystem::path(model.opened().trace.path).filename().string()));
  });
  t.add("time_base", [&model](size_t, CellSink& c) { c.text(time_base_name(model.base().kind)); });
  t.add("begin_ns", [&model](size_t, CellSink& c) { c.integer(model.base().begin().count); });
  t.add("wall_ns", [&model](size_t, CellSink& c) { c.integer(model.base().wall().count); });
  t.add("busy_ns",
        [&model](size_t, CellSink& c) { c.integer(model.base().mean_device().busy.count); });
  t.add("idle_ns",
        [&model](size_t, CellSink& c) { c.integer(model.base().mean_device().idle.count); });
  t.add("exposed_communication_ns", [&model](size_t, CellSink& c) {
    c.integer(model.base().mean_device().exposed_communication.count);
  });
  t.add("events",
        [&model](size_t, CellSink& c) { c.integer(static_cast<int64_t>(model.store().size())); });
  t.add("input_bytes", [&model](size_t, CellSink& c) { c.integer(model.store().input_bytes()); });
  t.add("schema_version", [](size_t, CellSink& c) { c.integer(kTablesVersion); });
  t.add("program", [](size_t, CellSink& c) { c.text("fathom " FATHOM_VERSION); });
  return t.take();
}

RowTable steps_rows(const TraceModel& model) {
  const Assessment& a = model.assessment();
  const TimeBase& base = a.base();
  auto rows = std::make_shared<std::vector<StepOfDevice>>();
  for (const DeviceIdle& device : a.idle().devices) {
    if (device.busy_by_step.size() != base.steps.size()) continue;  // not explained
    for (size_t i = 0; i < base.steps.size(); ++i) rows->push_back({i, &device});
  }
  const EventStore& store = model.store();
  RowMaker t("steps", rows->size());
  const auto length = [&base, rows](size_t r) {
    const BaseStep& step = base.steps[(*rows)[r].step];
    return step.end - step.begin;
  };
  const auto busy = [rows](size_t r) { return (*rows)[r].device->busy_by_step[(*rows)[r].step]; };
  t.add("step",
        [rows](size_t r, CellSink& c) { c.integer(static_cast<int64_t>((*rows)[r].step)); });
  t.add("name", [&base, &store, rows](size_t r, CellSink& c) {
    const EventId annotation = base.steps[(*rows)[r].step].annotation;
    annotation.valid() ? c.text(store.name(annotation)) : c.unknown();
  });
  t.add("number", [rows, numbers = step_numbers(store, base)](size_t r, CellSink& c) {
    c.put(numbers[(*rows)[r].step]);
  });
  t.add("device", [rows](size_t r, CellSink& c) { c.put((*rows)[r].device->device); });
  t.add("start_ns", [&base, rows](size_t r, CellSink& c) {
    c.integer(base.steps[(*rows)[r].step].begin.count);
  });
  t.add("duration_ns", [length](size_t r, CellSink& c) { c.integer(length(r).count); });
  t.add("busy_ns", [busy](size_t r, CellSink& c) { c.integer(busy(r).count); });
  t.add("idle_ns",
        [length, busy](size_t r, CellSink& c) { c.integer((length(r) - busy(r)).count); });
  return t.take();
}

RowTable ops_rows(const TraceModel& model) {
  const std::vector<AssessedOp>& ops = model.assessment().ops();
  const EventStore& store = model.store();
  RowMaker t("ops", ops.size());
  const auto args = [&](std::string_view column, StringId Args::* member) {
    t.add(column, [&ops, &store, member](size_t r, CellSink& c) {
      const ArgsId id = ops[r].group->key.args;
      put_text(c, id.valid() ? store.text(store.args(id).*member) : std::string_view());
    });
  };
  t.add("op_id", [](size_t r, CellSink& c) { c.integer(static_cast<int64_t>(r)); });
  t.add("name", [&ops](size_t r, CellSink& c) { c.text(ops[r].group->key.name); });
  t.add("category", [&ops](size_t r, CellSink& c) { c.text(ops[r].category); });
  args("input_dims", &Args::dims);
  args("input_types", &Args::types);
  args("input_strides", &Args::strides);
  t.add("calls", [&ops](size_t r, CellSink& c) {
    c.integer(static_cast<int64_t>(ops[r].group->calls.size()));
  });
  t.add("gpu_ns", [&ops](size_t r, CellSink& c) { c.integer(ops[r].group->gpu.sum.count); });
  t.add("gpu_mean_ns", [&ops](size_t r, CellSink& c) { c.real(ops[r].group->gpu.mean); });
  t.add("gpu_min_ns", [&ops](size_t r, CellSink& c) { c.integer(ops[r].group->gpu.min.count); });
  t.add("gpu_max_ns", [&ops](size_t r, CellSink& c) { c.integer(ops[r].group->gpu.max.count); });
  t.add("share_percent", [&ops](size_t r, CellSink& c) { c.real(ops[r].share * 100); });
  t.add("flop", [&ops](size_t r, CellSink& c) {
    const std::optional<Cost>& cost = ops[r].group->cost;
    cost ? c.real(cost->flops) : c.unknown();
  });
  t.add("bytes", [&ops](size_t r, CellSink& c) {
    const std::optional<Cost>& cost = ops[r].group->cost;
    cost ? c.real(cost->bytes) : c.unknown();
  });
  t.add("limit_ns", [&ops](size_t r, CellSink& c) {
    ops[r].bound ? c.real(ops[r].bound->seconds() * 1e9) : c.unknown();
  });
  t.add("bound", [&ops](size_t r, CellSink& c) {
    ops[r].bound ? c.text(ops[r].bound->is_compute() ? "compute" : "memory") : c.unknown();
  });
  t.add("efficiency_percent", [&ops](size_t r, CellSink& c) { c.put(percent(ops[r].efficiency)); });
  t.add("of_peak_percent", [&ops](size_t r, CellSink& c) { c.put(percent(ops[r].of_peak)); });
  return t.take();
}

RowTable op_calls_rows(const TraceModel& model) {
  const std::vector<AssessedOp>& ops = model.assessment().ops();
  const EventStore& store = model.store();
  auto rows = std::make_shared<std::vector<CallRow>>();
  for (size_t op = 0; op < ops.size(); ++op) {
    const OpGroup& group = *ops[op].group;
    for (size_t i = 0; i < group.calls.size(); ++i)
      rows->push_back({op, group.calls[i], group.gpu_times[i]});
  }
  RowMaker t("op_calls", rows->size());
  t.add("op_id", [rows](size_t r, CellSink& c) { c.integer(static_cast<int64_t>((*rows)[r].op)); });
  t.add("uid", [rows](size_t r, CellSink& c) { c.integer((*rows)[r].call->uid); });
  t.add("name", [rows](size_t r, CellSink& c) { c.text((*rows)[r].call->name); });
  t.add("start_ns", [&store, rows](size_t r, CellSink& c) {
    c.integer(store.start((*rows)[r].call->event).count);
  });
  t.add("cpu_ns", [&store, rows](size_t r, CellSink& c) {
    c.integer(store.duration((*rows)[r].call->event).count);
  });
  t.add("gpu_ns", [rows](size_t r, CellSink& c) { c.integer((*rows)[r].gpu.count); });
  t.add("kernels", [rows](size_t r, CellSink& c) {
    c.integer(static_cast<int64_t>((*rows)[r].call->kernels.size()));
  });
  t.add("first_kernel_uid", [&store, rows](size_t r, CellSink& c) {
    const std::vector<EventId>& kernels = (*rows)[r].call->kernels;
    kernels.empty() ? c.unknown() : c.integer(store.uid(kernels.front()));
  });
  return t.take();
}

RowTable gaps_rows(const TraceModel& model) {
  const EventStore& store = model.store();
  auto rows = std::make_shared<std::vector<GapRow>>();
  for (const DeviceIdle& device : model.assessment().idle().devices)
    for (const IdleStretch& stretch : device.stretches) rows->push_back({device.device, &stretch});
  RowMaker t("gaps", rows->size());
  t.add("device", [rows](size_t r, CellSink& c) { c.put((*rows)[r].device); });
  t.add("start_ns",
        [rows](size_t r, CellSink& c) { c.integer((*rows)[r].stretch->when.begin.count); });
  t.add("duration_ns", [rows](size_t r, CellSink& c) {
    const Interval& when = (*rows)[r].stretch->when;
    c.integer((when.end - when.begin).count);
  });
  t.add("host_communication_ns", [rows, covered = HostCommunication(store)](size_t r, CellSink& c) {
    const Interval& when = (*rows)[r].stretch->when;
    c.integer((covered.until(when.end) - covered.until(when.begin)).count);
  });
  t.add("cause",
        [rows](size_t r, CellSink& c) { c.text(idle_cause_name((*rows)[r].stretch->cause)); });
  t.add("blamed_uid", [&store, rows](size_t r, CellSink& c) {
    const EventId blamed = (*rows)[r].stretch->blamed;
    blamed.valid() ? c.integer(store.uid(blamed)) : c.unknown();
  });
  t.add("blamed", [&store, rows](size_t r, CellSink& c) {
    const EventId blamed = (*rows)[r].stretch->blamed;
    blamed.valid() ? c.text(store.name(blamed)) : c.unknown();
  });
  t.add("step", [&model, rows](size_t r, CellSink& c) {
    c.put(model.step_at((*rows)[r].stretch->when.begin));
  });
  return t.take();
}

RowTable findings_rows(const TraceModel& model) {
  const std::vector<Finding>& findings = model.findings();
  RowMaker t("findings", findings.size());
  t.add("finding", [](size_t r, CellSink& c) { c.integer(static_cast<int64_t>(r)); });
  t.add("kind", [&findings](size_t r, CellSink& c) { c.text(kind_name(findings[r].kind)); });
  t.add("title", text_of(findings, &Finding::title));
  t.add("priority",
        [&findings](size_t r, CellSink& c) { c.text(priority_name(findings[r].priority)); });
  t.add("confidence",
        [&findings](size_t r, CellSink& c) { c.text(confidence_name(findings[r].confidence)); });
  t.add("category", text_of(findings, &Finding::category));
  t.add("subject", text_of(findings, &Finding::subject));
  t.add("issue", text_of(findings, &Finding::issue));
  t.add("time_ns", nanos_of(findings, &Finding::time));
  t.add("share_percent", [&findings](size_t r, CellSink& c) { c.real(findings[r].share * 100); });
  t.add("efficiency_percent",
        [&findings](size_t r, CellSink& c) { c.put(percent(findings[r].efficiency)); });
  t.add("saving_least_ns", nanos_of(findings, &Finding::saving_at_least));
  t.add("saving_most_ns", nanos_of(findings, &Finding::saving_at_most));
  t.add("change_code", text_of(findings, &Finding::change_code));
  t.add("improve_kernel", text_of(findings, &Finding::improve_kernel));
  t.add("next_measurement", text_of(findings, &Finding::counters));
  t.add("under", text_of(findings, &Finding::under));
  return t.take();
}

RowTable finding_places_rows(const TraceModel& model) {
  const std::vector<Finding>& findings = model.findings();
  auto rows = std::make_shared<std::vector<PlaceRow>>();
  for (size_t f = 0; f < findings.size(); ++f)
    for (const Place& place : findings[f].places) rows->push_back({f, &place});
  RowMaker t("finding_places", rows->size());
  const auto text = [&](std::string_view column, std::string Place::* member) {
    t.add(column,
          [rows, member](size_t r, CellSink& c) { put_text(c, (*rows)[r].place->*member); });
  };
  t.add("finding",
        [rows](size_t r, CellSink& c) { c.integer(static_cast<int64_t>((*rows)[r].finding)); });
  text("file", &Place::file);
  t.add("line", [rows](size_t r, CellSink& c) {
    const Place& place = *(*rows)[r].place;
    place.file.empty() ? c.unknown() : c.integer(place.line);
  });
  text("function", &Place::function);
  text("caller", &Place::caller);
  text("module", &Place::module);
  text("op", &Place::op);
  t.add("time_ns", [rows](size_t r, CellSink& c) { c.integer((*rows)[r].place->time.count); });
  t.add("share_percent", [rows](size_t r, CellSink& c) { c.real((*rows)[r].place->share * 100); });
  return t.take();
}

}  // namespace fathom
