#include "story/run/run_story.h"

#include <array>

namespace fathom {

std::string_view mark_text(StoryMark mark) {
  switch (mark) {
    case StoryMark::kMeasured:
      return "measured";
    case StoryMark::kDerived:
      return "derived";
    case StoryMark::kEstimated:
      return "estimated";
    case StoryMark::kCodeFact:
      return "code fact";
    case StoryMark::kConfirmed:
      return "hypothesis confirmed";
  }
  return "";
}

std::string_view topic_name(StoryTopic topic) {
  using Topic = StoryTopic;
  switch (topic) {
    case Topic::kNone:
      return "";
    case Topic::kHost:
      return "host";
    case Topic::kSynchronization:
      return "synchronization";
    case Topic::kDataLoading:
      return "data_loading";
    case Topic::kFirstUse:
      return "first_use";
    case Topic::kHostWork:
      return "host_work";
    case Topic::kHostCommunication:
      return "host_communication";
    case Topic::kUnknownCause:
      return "unknown";
    case Topic::kMemory:
      return "memory";
    case Topic::kCompute:
      return "compute";
    case Topic::kCopies:
      return "copies";
    case Topic::kCommunication:
      return "communication";
    case Topic::kKernel:
      return "kernel";
    case Topic::kOps:
      return "ops";
    case Topic::kLatency:
      return "latency";
    case Topic::kSetup:
      return "setup";
    case Topic::kThrottling:
      return "throttling";
    case Topic::kUnknownLimit:
      return "unknown_limit";
    case Topic::kCpu:
      return "cpu";
    case Topic::kCounters:
      return "counters";
    case Topic::kMoreCounters:
      return "more_counters";
    case Topic::kStalls:
      return "stalls";
    case Topic::kShapes:
      return "shapes";
    case Topic::kTimeline:
      return "timeline";
    case Topic::kOpNames:
      return "ops_recorded";
    case Topic::kLaunches:
      return "launches";
    case Topic::kStacks:
      return "recorded_stacks";
    case Topic::kPlatform:
      return "platform";
    case Topic::kGpuWork:
      return "gpu_work";
  }
  return "";
}

std::string_view phase_kind_name(PhaseKind kind) {
  switch (kind) {
    case PhaseKind::kPrefill:
      return "prefill";
    case PhaseKind::kDecode:
      return "decode";
    case PhaseKind::kForward:
      return "forward";
    case PhaseKind::kBackward:
      return "backward";
    case PhaseKind::kOptimizer:
      return "optimizer";
    case PhaseKind::kCommunication:
      return "communication";
    case PhaseKind::kNamed:
      return "range";
    case PhaseKind::kRepeat:
      return "repeating sequence";
    case PhaseKind::kSetup:
      return "compilation and autotuning";
    case PhaseKind::kOther:
      return "other work";
  }
  return "";
}

std::string_view phase_evidence_name(PhaseEvidence evidence) {
  switch (evidence) {
    case PhaseEvidence::kAnnotation:
      return "annotation";
    case PhaseEvidence::kAutograd:
      return "autograd";
    case PhaseEvidence::kModules:
      return "modules";
    case PhaseEvidence::kShapes:
      return "shapes";
    case PhaseEvidence::kRepetition:
      return "repetition";
    case PhaseEvidence::kSetupCalls:
      return "calls of compilers";
    case PhaseEvidence::kNone:
      break;
  }
  return "";
}

bool StoryEvidence::empty() const {
  return events.empty() && sheet.empty() && file.empty() && metrics.empty() && source.empty() &&
         formula.empty();
}

std::optional<double> StoryLine::number(std::string_view which) const {
  for (const StoryNumber& n : numbers)
    if (n.name == which) return n.value;
  return {};
}

namespace {

// In the order of StoryLineKind.
constexpr auto kLineKindNames = std::to_array<std::string_view>(
    {"recording",     "gpus",       "model",          "counter_file", "doubtful_file",
     "flaw",          "throttled",  "clocks",         "phase_runs",   "tokens",
     "idle_in_phase", "first_run",  "slowest_run",    "overlapped",   "more_blocks",
     "block",         "kernel",     "source",         "hardware",     "untrusted",
     "rates",         "observed",   "from_cache",     "model_bound",  "small_grid",
     "explained",     "advice",     "hot_line",       "exposed",      "no_counters",
     "launch",        "occupancy",  "roofline",       "cache_rates",  "rejected",
     "untested",      "code_step",  "gap_between",    "shift_tokens", "shift_families",
     "shift_kernels", "shift_busy", "shift_hardware", "shift_rates",  "why_intensity",
     "why_launches",  "hotspot",    "host_range",     "host_counter", "bottleneck",
     "insight",       "action",     "missing",        "left_out"});
static_assert(kLineKindNames.size() == static_cast<size_t>(StoryLineKind::kLeftOut) + 1);

}  // namespace

std::string_view line_kind_name(StoryLineKind kind) {
  return kLineKindNames[static_cast<size_t>(kind)];
}

}  // namespace fathom
