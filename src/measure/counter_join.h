#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "events/counter_set.h"
#include "events/event_store.h"
#include "measure/join_quality.h"

// Hardware counters joined with the kernels of a trace, once, whatever the scope.
namespace fathom {

// Counters of one file.
struct CounterFile {
  std::string name;  // as reports show it
  CounterSet set;
};

// A kernel with the shape of its launch. Counters of different shapes are never mixed.
struct KernelLaunch {
  StringId name;  // the profiler's
  std::optional<Dim3> grid, block;
  std::optional<int32_t> registers, shared_memory;

  bool operator==(const KernelLaunch&) const;
};
struct KernelLaunchHash {
  size_t operator()(const KernelLaunch& launch) const;
};
KernelLaunch kernel_launch(const EventStore& store, EventId kernel);

// What a file's counters say of one kernel and shape of a trace.
struct JoinedCounters {
  JoinQuality quality = JoinQuality::kNone;
  std::vector<CounterRowId> rows;  // in the tool's order; of an ambiguous join none
  // Where exact: the kernel's runs in order of time, one for each row.
  std::vector<EventId> events;
  // Rows whose run took over 2 × the trace's median for this kernel and shape; their counters are
  // of another situation.
  size_t slow_rows = 0;
  std::vector<bool> is_slow;  // by row

  // Some duration is known and none is far off. Without any duration it is not known.
  std::optional<bool> trusted;
};

class CounterJoin {
 public:
  // Both must outlive it.
  CounterJoin(const EventStore& store, const std::vector<CounterFile>& files);
  // Of a store that was made from the file itself, an event for each row in their order: nothing
  // has to be found, and names that differ in their scope alone stay apart.
  static CounterJoin of_its_own_rows(const EventStore& store, const CounterFile& file);

  struct File {
    const CounterFile* file = nullptr;
    std::string refusal;  // why it is of another GPU; empty: it is joined
    std::string doubt;    // why it may be of another run; empty: nothing says so
    std::unordered_map<KernelLaunch, JoinedCounters, KernelLaunchHash> kernels;
    size_t joined_rows = 0, ambiguous_rows = 0;
    // Of the joined ones with a duration, those over 2 × the trace's or under half of it.
    size_t timed_rows = 0, odd_rows = 0;
  };
  const std::vector<File>& files() const { return files_; }
  // Those of a kernel, in the file of this number.
  const JoinedCounters& find(size_t file, const KernelLaunch& launch) const;

 private:
  CounterJoin() = default;

  std::vector<File> files_;
};

// How much of some kernels' time has counters.
struct CounterCoverage {
  Nanos total, joined, untrusted, ambiguous;  // untrusted ones are among the joined
};
CounterCoverage counter_coverage(const EventStore& store, std::span<const EventId> events,
                                 const CounterJoin& join);

}  // namespace fathom
