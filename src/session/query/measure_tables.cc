// Tables of what is known of kernels from elsewhere: counters, code.
#include <memory>
#include <unordered_map>

#include "session/query/trace_tables.h"

namespace fathom {
namespace {

struct ValueRow {
  const CounterFile* file;
  CounterRowId launch;
  EventId run;  // invalid: the join is not exact
  MetricValue value;
};

// The runs of the trace that rows of a file are exactly of.
std::unordered_map<uint32_t, EventId> exact_runs(const CounterJoin::File& file) {
  std::unordered_map<uint32_t, EventId> runs;
  for (const auto& [launch, joined] : file.kernels) {
    if (joined.quality != JoinQuality::kExact) continue;
    for (size_t i = 0; i < joined.rows.size() && i < joined.events.size(); ++i)
      runs[static_cast<uint32_t>(joined.rows[i].index)] = joined.events[i];
  }
  return runs;
}

}  // namespace

RowTable counters_rows(const TraceModel& model) {
  auto rows = std::make_shared<std::vector<ValueRow>>();
  if (const CounterJoin* join = model.input().kernels.counters()) {
    for (const CounterJoin::File& file : join->files()) {
      const CounterSet& set = file.file->set;
      const std::unordered_map<uint32_t, EventId> runs = exact_runs(file);
      for (size_t i = 0; i < set.size(); ++i) {
        const CounterRowId launch(i);
        const auto run = runs.find(static_cast<uint32_t>(i));
        for (const MetricValue& value : set.values(launch))
          rows->push_back({file.file, launch, run == runs.end() ? EventId() : run->second, value});
      }
    }
  }
  const EventStore& store = model.store();
  RowMaker t("counters", rows->size());
  t.add("file", [rows](size_t r, CellSink& c) { c.text((*rows)[r].file->name); });
  t.add("launch", [rows](size_t r, CellSink& c) {
    c.integer(static_cast<int64_t>((*rows)[r].launch.index));
  });
  t.add("kernel", [rows](size_t r, CellSink& c) {
    const ValueRow& row = (*rows)[r];
    put_text(c, row.file->set.text(row.file->set.row(row.launch).kernel));
  });
  t.add("kernel_uid", [&store, rows](size_t r, CellSink& c) {
    const EventId run = (*rows)[r].run;
    run.valid() ? c.integer(store.uid(run)) : c.unknown();
  });
  t.add("metric", [rows](size_t r, CellSink& c) {
    c.text((*rows)[r].file->set.metric_path((*rows)[r].value.metric));
  });
  t.add("unit", [rows](size_t r, CellSink& c) {
    const CounterSet& set = (*rows)[r].file->set;
    put_text(c, set.text(set.metric((*rows)[r].value.metric).unit));
  });
  t.add("value", [rows](size_t r, CellSink& c) { c.real((*rows)[r].value.value); });
  return t.take();
}

RowTable code_rows(const TraceModel& model) {
  auto coverage = std::make_shared<CodeCoverage>();
  if (model.input().kernels.has_code())
    *coverage = code_coverage(model.store(), all_selected(model.input()), model.input().kernels);
  RowMaker t("code", coverage->kernels.size());
  t.add("kernel", [coverage](size_t r, CellSink& c) { c.text(coverage->kernels[r].name); });
  t.add("time_ns",
        [coverage](size_t r, CellSink& c) { c.integer(coverage->kernels[r].time.count); });
  t.add("source",
        [coverage](size_t r, CellSink& c) { put_text(c, coverage->kernels[r].code->source); });
  t.add("facts",
        [coverage](size_t r, CellSink& c) { put_text(c, coverage->kernels[r].code->facts); });
  t.add("definitions", [coverage](size_t r, CellSink& c) {
    c.integer(static_cast<int64_t>(coverage->kernels[r].code->definitions.size()));
  });
  return t.take();
}

}  // namespace fathom
