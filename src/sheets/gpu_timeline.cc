#include "events/intervals.h"
#include "sheets/sheets.h"
#include "sheets/time_base.h"

namespace fathom {

GpuTimeline measure_timeline(const SheetInput& input) {
  const EventStore& store = input.store;
  std::vector<Interval> computing, communicating, copying, any;
  for (EventId event : timeline_events(input)) {
    const Interval when{store.start(event), store.end(event)};
    any.push_back(when);
    if (is_copy_event(store, event)) {
      copying.push_back(when);
    } else if (input.selection.is_communication(event)) {
      communicating.push_back(when);
    } else {
      computing.push_back(when);
    }
  }
  computing = merge_intervals(std::move(computing));
  communicating = merge_intervals(std::move(communicating));
  copying = merge_intervals(std::move(copying));
  any = merge_intervals(std::move(any));

  GpuTimeline t;
  t.computation = total_length(computing);
  t.communication = total_length(communicating);
  t.copies = total_length(copying);
  t.exposed_communication = total_length(subtract_intervals(communicating, computing));
  t.exposed_copies =
      total_length(subtract_intervals(subtract_intervals(copying, computing), communicating));
  t.busy = total_length(any);
  if (!any.empty()) {
    t.begin = any.front().begin;
    t.end = any.back().end;
  }
  t.total = t.end - t.begin;
  t.idle = t.total - t.busy;
  return t;
}

Table gpu_timeline_sheet(const SheetInput& input) {
  const GpuTimeline t = measure_timeline(input);
  Table table("gpu_timeline");
  Column& type = table.text_column("type");
  Column& time = table.time_column("time ms", Unit::kMillis);
  Column& percent = table.real_column("percent", Unit::kPercent);
  const auto row = [&](std::string_view name, Nanos value) {
    type.add(name);
    time.add(value);
    t.total == Nanos{} ? percent.add_unknown() : percent.add(ratio(value, t.total) * 100);
  };
  row("computation_time", t.computation);
  row("exposed_comm_time", t.exposed_communication);
  row("exposed_memcpy_time", t.exposed_copies);
  row("busy_time", t.busy);
  row("idle_time", t.idle);
  row("total_time", t.total);
  row("total_comm_time", t.communication);
  row("total_memcpy_time", t.copies);
  return table;
}

}  // namespace fathom
