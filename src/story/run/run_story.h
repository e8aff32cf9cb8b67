#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "events/intervals.h"
#include "tree/phases.h"

// The execution story of a run as values: no sentence is made here, and no line is without
// evidence.
namespace fathom {

// What a line rests on.
enum class StoryMark : uint8_t {
  kMeasured,
  kDerived,    // a formula over measured values
  kEstimated,  // a cost model
  kCodeFact,
  kConfirmed,  // a hypothesis that values of the kernel confirm
};
std::string_view mark_text(StoryMark mark);  // "measured", …, "hypothesis confirmed"

// What a line is about, where its kind has several: a cause, a limit, what is missing.
enum class StoryTopic : uint8_t {
  kNone,
  // Causes of idle time
  kHost,
  kSynchronization,
  kDataLoading,
  kFirstUse,
  kHostWork,
  kHostCommunication,
  kUnknownCause,
  // Limits
  kMemory,
  kCompute,
  kCopies,
  kCommunication,
  kKernel,        // a confirmed hypothesis
  kOps,           // ops, as against kernels
  kLatency,       // neither memory nor arithmetic is near its peak
  kSetup,         // compilation, autotuning, graph capture
  kThrottling,    // power or heat holds the clock down
  kUnknownLimit,  // of kernels without counters and cost models
  kCpu,           // work of the CPU in a trace without GPU work
  // Missing
  kCounters,
  kMoreCounters,
  kStalls,
  kShapes,
  kTimeline,
  kOpNames,
  kLaunches,
  kPlatform,
  kStacks,  // recorded stacks make the host slower
  kGpuWork,
};
std::string_view topic_name(StoryTopic topic);  // for programs

struct StoryNumber {
  std::string_view name;  // in the program: "share"
  double value = 0;
  std::string_view unit;  // "%", "µs", "B/s"; empty: a count
};

// Where a line's values can be looked up.
struct StoryEvidence {
  std::vector<int64_t> events;       // UIDs of some of the events
  std::string sheet, row;            // of the report
  std::string file;                  // of counters or samples
  std::vector<std::string> metrics;  // as that file's columns are called
  std::string source;                // file:line of code
  std::string formula;               // of what is derived
  bool empty() const;
};

enum class StoryLineKind : uint8_t {
  // Configuration
  kRecording,     // names: file, GPU, software; numbers: length, busy, kernels
  kGpus,          // numbers: told, count; device_1, busy_1, … of some others
  kModel,         // names: module class, class of the layers; numbers: layers
  kCounterFile,   // names: file, tool; numbers: coverage, untrusted
  kDoubtfulFile,  // names: file, why
  kFlaw,          // names: severity, what, file (empty: the trace); numbers: count
  kThrottled,     // names: reason; numbers: active, sm_clock, highest, most, power
  kClocks,        // numbers: sm_clock, power, power_cap, thermal
  // Phases
  kPhaseRuns,    // numbers: runs, median, p95, share, busy, kernels
  kTokens,       // numbers: rows
  kIdleInPhase,  // names: cause, of what held up, before which op; numbers: time, share,
                 // cause_share
  kFirstRun,     // names: cause; numbers: ratio, median, time
  kSlowestRun,   // numbers: ratio, time, number
  kOverlapped,   // numbers: time, share: hidden behind other phases
  kMoreBlocks,   // numbers: count, share
  // Events
  kBlock,       // names: label, around, ops; numbers: time, share, kernels, repeats
  kKernel,      // names: kernel, traits; numbers: share, count, median
  kSource,      // names: place, facts
  kHardware,    // names: stall reasons; numbers: sm, tensor, dram, occupancy, stall_N, coverage
  kUntrusted,   // names: file
  kRates,       // names: rate; numbers: flop_rate, of_peak_flop, byte_rate, of_peak_bytes, coverage
  kObserved,    // names: stall reason; numbers: sm, tensor, dram, stall
  kFromCache,   // numbers: byte_rate, ratio
  kModelBound,  // names: memory or compute; numbers: intensity, ridge, of_limit
  kSmallGrid,   // numbers: blocks, units, share
  kExplained,   // names: id, title, values
  kAdvice,      // names: id, fix; numbers: least, most
  kHotLine,     // names: place, reasons; numbers: share
  kExposed,     // numbers: share: of a collective or copy, time that nothing hides
  kNoCounters,  // names: command
  // One kernel
  kLaunch,      // names: dimensions; numbers: count, median, time, registers, shared
  kOccupancy,   // names: limiter; numbers: theoretical, achieved, waves
  kRoofline,    // names: side; numbers: intensity, ridge, flop_rate, roof, of_roof
  kCacheRates,  // numbers: l1, l2
  kRejected,    // names: title, values
  kUntested,    // names: titles, command; numbers: count
  kCodeStep,    // names: what, place
  // Transitions: numbers before and after
  kGapBetween,  // names: cause; numbers: time
  kShiftTokens,
  kShiftFamilies,  // names: dominant family before, after; numbers: shares
  kShiftKernels,   // numbers: median duration of a kernel, kernels of a run
  kShiftBusy,
  kShiftHardware,  // numbers: sm, tensor, dram, each before and after, coverage
  kShiftRates,     // numbers: flop_rate, byte_rate, intensity
  kWhyIntensity,   // numbers: intensity_before, intensity_after, ridge
  kWhyLaunches,    // numbers: kernel time, launch interval
  // Summary
  kHotspot,      // names: name, category; numbers: share, time, calls
  kHostRange,    // names: name; numbers: share, time, count, median: in a trace without GPU work
  kHostCounter,  // names: name; numbers: count, first, last, least, most: likewise
  kBottleneck,   // names: what; numbers: share, time
  kInsight,      // names: kind; numbers
  kAction,       // names: what; numbers: least, most
  kMissing,      // names: which, command
  kLeftOut,      // names: what; numbers: count, share
};
std::string_view line_kind_name(StoryLineKind kind);  // for programs: "phase_runs"

struct StoryLine {
  StoryLineKind kind = StoryLineKind::kRecording;
  StoryMark mark = StoryMark::kMeasured;
  StoryTopic topic = StoryTopic::kNone;
  std::vector<std::string> names =
      {};  // texts of the trace, the code or the data, as the kind says
  std::vector<StoryNumber> numbers = {};
  StoryEvidence evidence = {};

  std::optional<double> number(std::string_view name) const;
  std::string_view name(size_t place) const {
    return place < names.size() ? std::string_view(names[place]) : std::string_view{};
  }
};

// A stretch of a typical run: T0, T1, …
struct StoryEvent {
  Nanos at;  // from the begin of the run
  StoryLine what;
  std::vector<StoryLine> lines;  // how the hardware behaved, what that means, what to try
};

std::string_view phase_kind_name(PhaseKind kind);              // "prefill", …, "other work"
std::string_view phase_evidence_name(PhaseEvidence evidence);  // "annotation"; empty: none

struct StoryPhase {
  PhaseKind kind = PhaseKind::kOther;
  std::string name;  // of the annotation; else empty
  PhaseEvidence evidence = PhaseEvidence::kNone;
  size_t runs = 0;
  std::vector<Interval> spans;  // of its runs on the GPU, in the order of time
  Nanos busy, idle;             // of all runs: work that no other phase hides, and gaps inside runs
  std::vector<StoryLine> lines;
  std::vector<StoryEvent> events;
};

struct StoryTransition {
  size_t from = 0, to = 0;  // in RunStory::phases
  std::vector<StoryLine> lines;
};

// All that is known of one kernel.
struct StoryKernel {
  std::string name;
  std::vector<StoryLine> lines;
};

struct RunStory {
  std::string title;
  bool has_timeline = true;  // false: counters alone, in no known order of time
  std::string selection;     // what was asked for; empty: all
  std::vector<StoryLine> configuration;
  std::vector<StoryPhase> phases;  // in the order of their first runs, a few
  size_t more_phases = 0;
  Nanos more_time;  // of those
  std::vector<StoryTransition> transitions;
  std::vector<StoryKernel> kernels;  // that were asked for
  std::vector<StoryLine> hotspots, bottlenecks, insights, actions, missing;
  // phases' busy and idle + more_time + between == total; of a selection, between is all else.
  Nanos total, between;
  // Of the recording, where the story is of its steady state; zero: of all of it.
  Nanos recorded;
  Nanos wall;                 // of the steps or the recording; the total is at most that
  bool selects_work = false;  // ops, kernels or modules: their phases have no idle time
};

}  // namespace fathom
