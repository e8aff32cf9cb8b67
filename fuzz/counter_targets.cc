// The readers of hardware counters: each then joins what it read with a trace of the same kernels,
// and makes every sheet and page of it.
#include <algorithm>
#include <cstring>
#include <span>

#include "base/byte_source.h"
#include "base/text_source.h"
#include "ingest/ncu/reader.h"
#include "ingest/rocprof/counter_csv.h"
#include "measure/counter_join.h"
#include "platform/platform.h"
#include "report/csv.h"
#include "session/analyze.h"
#include "session/code/measured.h"
#include "session/counters.h"
#include "sheets/counter_sheets.h"
#include "targets.h"

namespace fathom::fuzz {
namespace {

// A trace in which each counted launch ran once, and the first once more.
EventStore store_of_counters(const CounterSet& set) {
  EventStoreBuilder builder;
  for (size_t i = 0; i <= set.size(); ++i) {
    const CounterRow& row = set.row(CounterRowId(i % set.size()));
    GpuWork work;
    work.grid = row.grid;
    work.block = row.block;
    builder.add({EventKind::kKernel,
                 Nanos{static_cast<int64_t>(i) * 1000},
                 Nanos{500},
                 builder.intern(set.text(row.kernel)),
                 {},
                 {}},
                work);
  }
  return std::move(builder).seal({}, 0);
}

void report_all(Result<CounterSet> read, bool whole) {
  if (!read.ok() || !whole) return;
  std::vector<CounterFile> files;
  files.push_back({"fuzz.csv", read.take()});
  const EventStore store = store_of_counters(files[0].set);
  const CounterJoin join(store, files);
  std::vector<EventId> events;
  for (size_t i = 0; i < store.size(); ++i) events.emplace_back(i);
  (void)counter_coverage(store, events, join);
  const CounterReport report = analyze_counters(files);
  (void)to_csv(report.kernels);
  (void)counters_text(report, {true, true, 80});
  (void)counters_markdown(report, files);
  (void)counters_json(report);
  static const Result<Platform> platform = open_platform("h200");
  AnalyzeOptions options;
  options.threads = 1;
  options.platform = platform.ok() ? &platform.value() : nullptr;
  options.counters = &files;
  (void)analyze(trace_of_counters(files[0]), Scope(), options);
  size_t left_out = 0;
  (void)to_csv(counters_sheet(files, 1000, left_out));
}

}  // namespace

void ncu_counters(const uint8_t* data, size_t size) {
  (void)ncu::recognises({reinterpret_cast<const char*>(data), size});
  TextSource source(text_of(data, size));
  report_all(ncu::read(source, "fuzz.csv"), runs_whole(text_of(data, size)));
}

void rocprof_counters(const uint8_t* data, size_t size) {
  (void)rocprof::counters::recognises({reinterpret_cast<const char*>(data), size});
  (void)rocprof::counters::read_sysinfo({reinterpret_cast<const char*>(data), size});
  TextSource source(text_of(data, size));
  report_all(rocprof::counters::read(source, "fuzz.csv"), runs_whole(text_of(data, size)));
}

}  // namespace fathom::fuzz
