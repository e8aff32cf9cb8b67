#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/coverage.h"
#include "analyze/finding.h"
#include "analyze/slow_step.h"
#include "base/diagnostics.h"
#include "measure/compared_counts.h"
#include "report/report_listing.h"
#include "report/screen.h"
#include "sheets/sheets.h"
#include "sheets/time_base.h"

namespace fathom {

class JsonWriter;

// What a report says first, made once: the screen, summary.json and `--json` all show this.
struct Summary {
  struct Op {
    std::string name, category;
    int64_t calls = 0;
    double gpu_millis = 0, share_percent = 0;
  };
  // An op of a trace without GPU work.
  struct CpuOp {
    std::string name, shapes;  // of its first call
    int64_t calls = 0;
    double self_millis = 0, share_percent = 0;
  };
  struct Cpu {
    Nanos length, self;      // from the first op to the last; of all ops, over all threads
    std::vector<CpuOp> ops;  // by self time, all of them
  };
  // Ranges and counters of a trace without GPU work.
  struct HostRange {
    std::string name;
    int64_t count = 0;
    double total_millis = 0, median_millis = 0, max_millis = 0, share_percent = 0;  // of the length
  };
  struct HostCounter {
    std::string name;
    int64_t count = 0;
    double first = 0, last = 0, min = 0, mean = 0, max = 0;
    std::vector<std::optional<double>> means;  // over time, in equal parts
  };
  struct Host {
    Nanos length;                   // from the first range or value to the last
    std::vector<HostRange> ranges;  // by total time, all of them
    std::vector<HostCounter> counters;
    int64_t left_out = 0;  // counters
  };
  struct Unlinked {
    int64_t events = 0;
    Nanos time;         // the sum of their durations
    double of_gpu = 0;  // share of all GPU events' durations
    bool included = false;
  };

  // Idle time of one cause, the mean over GPUs.
  struct IdlePart {
    std::string_view cause;  // a name for programs (analyze/idle_gaps.h)
    Nanos time;
  };

  struct Found {
    std::string kind;
    Priority priority = Priority::kLow;
    std::string title, subject;
    double saving_least_percent = 0, saving_most_percent = 0;  // of the wall time
    std::vector<Place> places;
    std::string under;  // title of the finding that it is a part of; empty: none
  };

  // How much of the kernels' time was found in a repository's code.
  struct Sources {
    std::string repository;
    double matched_percent = 0, ambiguous_percent = 0;
  };

  // Hardware counters that were given beside the trace.
  struct CounterSource {
    std::string file, tool, gpu;  // "Nsight Compute 2025.3.1.0, report file"; gpu may be empty
    int64_t launches = 0, joined = 0;
    std::string refusal;  // why they are not of this trace; empty: they were joined
    std::string doubt;    // why they may be of another run; empty: nothing says so
  };
  // Of the kernels' time: with counters, those of other durations among it, of unclear ones.
  struct Counters {
    std::vector<CounterSource> files;
    double joined_percent = 0, untrusted_percent = 0, ambiguous_percent = 0;
    int64_t left_out = 0;  // values that counters.csv has no room for
    struct Bottleneck {
      std::string kernel, hypothesis, title, evidence, fix;
      Nanos time, saving;  // of the kernel in the scope; at best
      std::optional<double> least_gain, most_gain;
    };
    std::vector<Bottleneck> bottlenecks;  // confirmed by counters: at most three
    // Of the kernels that the code defines; none: no code was given.
    std::optional<ComparedCounts> expected = {};
  };

  // Where kernels wait, by PC samples.
  struct Stalls {
    struct Place {
      std::string kernel, place;  // "rows.cu:24", or "PC 0x1a0" without line information
      std::string reasons;        // "long_scoreboard 91 %, wait 4 %"
      double percent = 0;         // of the kernel's samples, that are stalls here
    };
    std::vector<Place> places;  // of the kernels with the most GPU time
    int64_t samples = 0, samples_with_line = 0, dropped = 0;
    std::optional<uint64_t> period_cycles;
  };
  // Of the time of the scope's kernels.
  struct Clocks {
    double known_percent = 0;
    std::optional<double> sm_clock_mhz, power_watts, temperature;
    std::optional<double> power_cap_percent, thermal_percent, slowed_percent;
  };

  // The critical path of the steps.
  struct Path {
    struct Part {
      std::string name;
      double millis = 0, percent = 0;  // of a step
    };
    struct Row {
      std::string part, name;  // the name may be empty
      double millis = 0, percent = 0;
    };
    std::string missing;               // why there is none; empty: there is one
    Nanos step;                        // of the whole recording where it has no steps
    int64_t steps = 0, all_steps = 0;  // looked at, and of the scope
    std::string shares;                // "kernels 61 %, host 30 %"
    std::vector<Part> parts;           // the largest first
    std::vector<Row> longest;
    double replay_error_percent = 0;
  };
  // An answer to --what-if.
  struct WhatIf {
    std::string question;
    Nanos step, at_least, at_most;
    std::string shares;  // of the path then
    int64_t gpu_events = 0, host_segments = 0;
    double saved_at_least = 0, saved_at_most = 0;  // of a step without the profiler
  };

  std::string trace;    // the file's name, as given
  std::string source;   // the tool that recorded it; empty: the file does not tell
  std::string gpu;      // "NVIDIA H200", "8 × AMD Instinct MI300X"; empty: the trace does not say
  std::string runtime;  // "CUDA 13.0"; likewise
  std::optional<int64_t> rank, world_size;
  int64_t events = 0, gpu_events = 0, skipped_events = 0;
  int64_t input_bytes = 0;
  std::vector<std::string> steps;  // names in the order of time
  std::string scope;               // what part of the trace this is about; empty: all of it
  GpuTimeline timeline;
  TimeBase base;  // the wall time, which shares and savings relate to
  std::optional<SlowStep> slow_step;
  std::vector<IdlePart> idle;  // the largest first; only with an analysis
  std::optional<Cpu> cpu;      // only of a trace without GPU work
  std::optional<Host> host;
  Unlinked unlinked;
  // False: the recorder keeps no ops, or not even launches. Kernels then take their place.
  bool has_ops = true, has_launches = true;
  bool has_frames = false;          // Python stacks
  std::vector<std::string> ranges;  // names of annotations, the longest first; only without steps
  std::vector<Op> ops;              // by GPU time, all of them
  std::string platform;             // that efficiency was computed for; empty: it was not
  std::string recorded_on;          // the trace's own platform, where that is another; else empty
  double known_share = 0;           // of the ops' GPU time that has a known limit
  Coverage coverage{1, {}};         // what was not held against a limit, and why
  std::vector<std::string>
      fitting_platforms;             // all that the trace's GPU may be, without a platform
  bool has_costs = true;             // false: no op has a cost, most often for want of shapes
  std::vector<Found> findings;       // the most important first
  std::optional<Sources> sources;    // none: no repository was given
  std::optional<Counters> counters;  // none: no counters were given
  std::optional<Stalls> stalls;      // none: PCs were not sampled
  std::optional<Clocks> clocks;      // none: clocks were not recorded
  std::string phases;                // "prefill 12 %, decode 87 %", safe to print; empty: none
  std::optional<Path> path;          // none: not asked for
  std::vector<WhatIf> what_if;
  std::vector<Diagnostic> diagnostics;
};

// "no GPU work: CPU ops only"; empty for a trace with GPU work.
std::string_view cpu_only_text(const Summary& summary);

std::string summary_json(const Summary& summary, const ReportListing& written = {});
// Items of an array.
void write_bottlenecks(JsonWriter& json,
                       const std::vector<Summary::Counters::Bottleneck>& bottlenecks);

// That the trace's times and the limits are of different GPUs, where recorded_on is known.
std::string other_platform_text(const Summary& summary);

// "NVIDIA H200 · CUDA 13.0 · 30,180 events · 118.4 ms", safe to print.
std::string summary_headline(const Summary& summary);
// What is wrong with the input, safe to print; none where nothing is.
struct SummaryNote {
  std::string text;
  bool is_warning = false;
};
std::vector<SummaryNote> summary_notes(const Summary& summary, bool verbose);
std::string summary_text(const Summary& summary, const TerminalStyle& style,
                         const ReportListing& written = {});

}  // namespace fathom
