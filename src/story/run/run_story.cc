#include "story/run/run_story.h"

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

std::string_view line_kind_name(StoryLineKind kind) {
  using Kind = StoryLineKind;
  switch (kind) {
    case Kind::kRecording:
      return "recording";
    case Kind::kGpus:
      return "gpus";
    case Kind::kModel:
      return "model";
    case Kind::kCounterFile:
      return "counter_file";
    case Kind::kDoubtfulFile:
      return "doubtful_file";
    case Kind::kFlaw:
      return "flaw";
    case Kind::kThrottled:
      return "throttled";
    case Kind::kClocks:
      return "clocks";
    case Kind::kPhaseRuns:
      return "phase_runs";
    case Kind::kTokens:
      return "tokens";
    case Kind::kIdleInPhase:
      return "idle_in_phase";
    case Kind::kFirstRun:
      return "first_run";
    case Kind::kSlowestRun:
      return "slowest_run";
    case Kind::kOverlapped:
      return "overlapped";
    case Kind::kMoreBlocks:
      return "more_blocks";
    case Kind::kBlock:
      return "block";
    case Kind::kKernel:
      return "kernel";
    case Kind::kSource:
      return "source";
    case Kind::kHardware:
      return "hardware";
    case Kind::kUntrusted:
      return "untrusted";
    case Kind::kRates:
      return "rates";
    case Kind::kObserved:
      return "observed";
    case Kind::kFromCache:
      return "from_cache";
    case Kind::kModelBound:
      return "model_bound";
    case Kind::kSmallGrid:
      return "small_grid";
    case Kind::kExplained:
      return "explained";
    case Kind::kAdvice:
      return "advice";
    case Kind::kHotLine:
      return "hot_line";
    case Kind::kExposed:
      return "exposed";
    case Kind::kNoCounters:
      return "no_counters";
    case Kind::kLaunch:
      return "launch";
    case Kind::kOccupancy:
      return "occupancy";
    case Kind::kRoofline:
      return "roofline";
    case Kind::kCacheRates:
      return "cache_rates";
    case Kind::kRejected:
      return "rejected";
    case Kind::kUntested:
      return "untested";
    case Kind::kCodeStep:
      return "code_step";
    case Kind::kGapBetween:
      return "gap_between";
    case Kind::kShiftTokens:
      return "shift_tokens";
    case Kind::kShiftFamilies:
      return "shift_families";
    case Kind::kShiftKernels:
      return "shift_kernels";
    case Kind::kShiftBusy:
      return "shift_busy";
    case Kind::kShiftHardware:
      return "shift_hardware";
    case Kind::kShiftRates:
      return "shift_rates";
    case Kind::kWhyIntensity:
      return "why_intensity";
    case Kind::kWhyLaunches:
      return "why_launches";
    case Kind::kHotspot:
      return "hotspot";
    case Kind::kHostRange:
      return "host_range";
    case Kind::kHostCounter:
      return "host_counter";
    case Kind::kBottleneck:
      return "bottleneck";
    case Kind::kInsight:
      return "insight";
    case Kind::kAction:
      return "action";
    case Kind::kMissing:
      return "missing";
    case Kind::kLeftOut:
      return "left_out";
  }
  return "";
}

}  // namespace fathom
