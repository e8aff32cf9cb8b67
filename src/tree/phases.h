#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tree/call_tree.h"

// The phases of a run: what its GPU work was for. Work that a compiler or autotuner launches is
// apart from all others. The evidence of those, in the order in which it counts:
// 1. Ranges of the program with the name of a phase (data/phases/names.tsv), open on the thread of
//    the launch when the work was launched. Without a launch: the range's image on the stream, else
//    the range that is open on the host at that time.
// 2. Autograd: its ops and its thread are the backward pass, ops and kernels of optimisers the
//    optimiser, ops with a sequence number the forward pass, if the trace has a backward pass.
// 3. Other ranges of the program, then Python functions (data/phases/ops.tsv).
// 4. Repeats of the sequence of kernels. Those with attention of few queries are decode steps.
// A collective belongs to the phase that it was launched in. It is a phase of its own where the
// program gave it a range outside other phases, where a thread launches nothing else, or where
// nearly all work between two phases is collectives.
namespace fathom {

enum class PhaseKind : uint8_t {
  kPrefill,
  kDecode,
  kForward,
  kBackward,
  kOptimizer,
  kCommunication,
  kNamed,   // an annotation whose name is of no kind above
  kRepeat,  // a sequence of kernels that repeats
  kOther,   // work that belongs to no phase: copies between phases
  kSetup,   // compilation, autotuning, graph capture (tree/setup_spans.h)
};

// What shows that a phase is one.
enum class PhaseEvidence : uint8_t {
  kAnnotation,  // a range with its name
  kAutograd,    // ops and threads of the backward pass, ops of optimisers
  kModules,     // Python modules and functions
  kShapes,      // how many tokens the products of a step have
  kRepetition,  // the sequence of kernels
  kNone,
  kSetupCalls,  // calls of compilers and autotuners
};

// One run of a phase: its host range, as far as it is known, and its GPU work.
struct PhaseRun {
  std::optional<Nanos> host_begin, host_end;
  Nanos gpu_begin, gpu_end;   // first start, last end; meaningless without work
  std::vector<EventId> work;  // GPU events in the order of time
};

struct Phase {
  PhaseKind kind = PhaseKind::kOther;
  std::string name;  // of the annotation; else empty
  PhaseEvidence evidence = PhaseEvidence::kNone;
  EventId example;             // an event that shows it; invalid where there is none
  std::vector<PhaseRun> runs;  // in the order of time
};

// In the order of their first runs. Each of the given GPU events is in exactly one run.
std::vector<Phase> find_phases(const EventStore& store, const CallTree& tree,
                               const std::vector<EventId>& gpu_work);

}  // namespace fathom
