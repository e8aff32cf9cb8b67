#pragma once

#include <optional>
#include <vector>

#include "base/table.h"
#include "sheets/gpu_selection.h"

namespace fathom {

// Ranges of one name: NVTX, probes, annotations.
struct HostRange {
  StringId name;
  EventId first;
  int64_t count = 0;
  Nanos total, least, median, most;
};

// A counter over time, such as a number of the program's log.
struct CounterTrack {
  StringId name, counter;  // of the event and of its value
  EventId first_event;
  int64_t count = 0;
  double first = 0, last = 0, mean = 0, min = 0, max = 0;
  // The time of the recording in equal parts; a part without a value has none.
  struct Part {
    int64_t count = 0;
    double mean = 0, min = 0, max = 0;
  };
  std::vector<Part> parts;
};

// What a trace without GPU work tells of the program: its ranges and counters.
struct HostActivity {
  static constexpr size_t kParts = 20;
  static constexpr size_t kMostCounters = 1000;

  Nanos begin, length;                 // of the first range or value, to the last
  std::vector<HostRange> ranges;       // by total time
  std::vector<CounterTrack> counters;  // in the order of their first values
  size_t left_out = 0;                 // counters beyond the most
};

// Nothing where the trace has GPU work, or neither ranges nor counters.
std::optional<HostActivity> measure_host_activity(const SheetInput& input);

// host_ranges and counters_over_time, those that have rows.
std::vector<Table> host_sheets(const SheetInput& input);

}  // namespace fathom
