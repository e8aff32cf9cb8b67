#pragma once

#include <string>
#include <vector>

#include "base/kernel_traits.h"
#include "base/table.h"
#include "measure/hypotheses.h"
#include "platform/occupancy.h"
#include "platform/platform.h"
#include "sheets/counter_sheets.h"

// How the hardware behaved while a kernel ran, and which explanations that confirms.
namespace fathom {

struct KernelContext {
  KernelLaunch launch;
  EventId first;
  std::string name;  // as the profiler shows it
  KernelTraits traits;
  std::string source, code_facts;  // where the code has it and what it shows; empty: not known
  int64_t count = 0;
  Nanos time;        // of all its runs in the scope
  std::string file;  // whose counters these are; empty: none
  JoinQuality quality = JoinQuality::kNone;
  std::string trust;  // "yes", "in part", "no", "duration unknown"; empty: no counters
  bool is_trusted = true;
  OccupancyLimiter limiter = OccupancyLimiter::kNone;  // meaningless without theoretical_occupancy
  CountingTool tool = CountingTool::kRecord;           // whose counters these are, or could be
  // Which launches the verdicts are for, where the kernel has others that differ: "grid 4×1×1,
  // block 128×1×1", "3 of 20 launches, 450–500 µs". Empty: for all.
  std::string which;
  double told_share = 1;  // of its counted time
  HardwareValues values;
  std::vector<std::pair<std::string, double>> stalls;  // percent of warp states, the largest first
  std::vector<TestedHypothesis> tested;

  std::optional<double> value(std::string_view value_name) const;
  // Counted launches alone may come without a duration.
  bool is_timed() const { return time > Nanos{} || value("trace_duration_us").has_value(); }
};

// Of the scope's kernels, the longest first, up to `limit`; none where no counters were given. The
// platform may be null. Without a timeline the events are the counted launches themselves: their
// order and gaps say nothing.
std::vector<KernelContext> kernel_contexts(const SheetInput& input, const Platform* platform,
                                           size_t limit, bool has_timeline = true);
// The same also without counters: what the launches and the trace tell. The first `list_missing`
// list the values that their tests lack.
std::vector<KernelContext> launch_contexts(const SheetInput& input, const Platform* platform,
                                           size_t limit, bool has_timeline = true,
                                           size_t list_missing = SIZE_MAX);
constexpr size_t kMostContexts = 1000;
constexpr size_t kAskedContexts = 21;  // whose missing values a story asks for

// Whether a hypothesis is confirmed and speaks of the kernel's own time.
bool explains_kernel(const KernelContext& kernel, const TestedHypothesis& tested);

// A confirmed hypothesis with the time that its removal could save.
struct ConfirmedLimit {
  const KernelContext* kernel = nullptr;
  const TestedHypothesis* tested = nullptr;
  Nanos saving;  // at best
};
// The largest first, one for each kernel and hypothesis; those that another explains last.
std::vector<ConfirmedLimit> find_bottlenecks(const std::vector<KernelContext>& kernels);

// kernels.csv: a row for each kernel and shape with counters.
Table kernels_sheet(const std::vector<KernelContext>& kernels);
// hypotheses.csv: a row for each kernel among the longest and each hypothesis.
Table hypotheses_sheet(const std::vector<KernelContext>& kernels, size_t limit);
constexpr size_t kMostKernelPages = 20;

std::string_view limiter_text(OccupancyLimiter limiter);
std::string_view verdict_text(Verdict verdict);
// "DRAM throughput 87.1 %, L2 hit rate 35.4 %": the values that a hypothesis rests on.
std::string evidence_text(const KernelContext& kernel, const Hypothesis& hypothesis);
// The same; of one that is rejected, the values that reject it.
std::string evidence_text(const KernelContext& kernel, const TestedHypothesis& tested);
// "1.3–2.0 ×"; empty: not known.
std::string gain_text(const TestedHypothesis& tested);

}  // namespace fathom
