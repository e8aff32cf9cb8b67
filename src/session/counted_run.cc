#include "session/counted_run.h"

#include <algorithm>
#include <unordered_set>

#include "base/kernel_name.h"
#include "events/timeline_rows.h"
#include "report/trace/counters_report.h"
#include "session/counters.h"

namespace fathom {
namespace {

class CountedRun {
 public:
  void add(const CounterFile& file) {
    std::unordered_set<std::string> added;
    for (size_t i = 0; i < file.set.size(); ++i) {
      const CounterRow& row = file.set.row(CounterRowId(i));
      const std::string_view name = file.set.text(row.kernel);
      const std::string known = normal_kernel_name(name).text;
      if (known_.contains(known)) continue;
      added.insert(known);
      add_row(row, name);
    }
    known_.merge(added);
    const CounterOrigin& origin = file.set.origin();
    if (!gpus_.empty() || origin.gpu.empty()) return;
    GpuProperties gpu;
    gpu.name = origin.gpu;
    gpu.multiprocessors = origin.multiprocessors;
    gpus_.push_back(std::move(gpu));
  }

  Trace take(const std::vector<CounterFile>& files) && {
    TraceMetadata metadata;
    metadata.gpus = std::move(gpus_);
    metadata.source = tool_text(files.front().set.origin());
    Trace trace;
    trace.path = files.front().name;
    trace.store = std::move(builder_).seal(std::move(metadata), 0);
    trace.tree = build_call_tree(trace.store);
    return trace;
  }

 private:
  void add_row(const CounterRow& row, std::string_view name) {
    const int64_t length = row.duration ? std::max<int64_t>(0, row.duration->count) : 0;
    if (length > INT64_MAX / 4 - now_) return;
    const auto common = rows_.event(EventKind::kKernel, rows_.text(name),
                                    rows_.stream(row.device, row.stream), now_, now_ + length);
    now_ += length;
    if (!common) return;
    GpuWork work = counted_work(row);
    if (!work.grid) work.grid = dimensions(row.grid_blocks, 1, 1);
    if (!work.block) work.block = dimensions(row.block_threads, 1, 1);
    builder_.add(*common, work);
  }

  EventStoreBuilder builder_;
  TimelineRows rows_{builder_};
  std::unordered_set<std::string> known_;
  std::vector<GpuProperties> gpus_;
  int64_t now_ = 1;  // 0 stands for a time that was not recorded
};

}  // namespace

Trace run_of_counters(const std::vector<CounterFile>& files) {
  CountedRun run;
  for (const CounterFile& file : files) run.add(file);
  return std::move(run).take(files);
}

void add_own_counters(const Trace& run, const std::vector<CounterFile>& files,
                      KernelMeasures& measures) {
  // Where each row became an event, nothing has to be found, and no launch is of another situation.
  if (files.size() == 1 && files.front().set.size() == run.store.size())
    return measures.add_counters(CounterJoin::of_its_own_rows(run.store, files.front()));
  measures.add_counters(run.store, files);
}

}  // namespace fathom
