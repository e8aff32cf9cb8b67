#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "events/event.h"

namespace fathom {

enum class FindingKind : uint8_t {
  kLowEfficiency,
  kUnfusedAttention,
  kFusibleChain,
  kTinyProducts,
  kImageLayout,
  kHostBound,
  kSynchronization,
  kDataLoading,
  kFirstUse,
  kHostWork,
  kAllocation,
  kQueuedWork,
  kExposedCommunication,
  kExposedCopies,
  kShortKernels,
  kRecompute,
  kWideProducts,
  kDoublePrecision,
  kCasts,
  kAttentionMath,
  kRepeatedKeys,
  kLayoutCopies,
  kGrowingCache,
  kOverwrittenFills,
  kOneHotProduct,
  kFullSort,
  kRepeatedTables,
  kTrainingMode,
  kGradientMode,
  kDenseGradient,
  kDiscardedRows,
  kMovedCache,
  kFullMask,
  kSortedAdditions,
  kPaddingCopies,
  kProductOrder,
  kUnusedGradients,
  kRepeatedBackward,
  kStridedReduction,
  kLargeIntermediate,
  kFallbackOp,
  kExpensiveOp,
  kHotLine,
  kKernelLimit,
  kLoopedOptimizer,
  kLoopedProducts,
  kOddSizes,
  kFewBlocks,
  kSmallBlocks,
  kContendedAtomics,
  kPageableCopies,
  kCopiesInTurns,
  kSmallCollectives,
  kRepeatedReduction,
  kCpuOp,
  kCpuDispatch,
  kCpuBetweenOps,
  kCpuCopies,
  kCount,
};

// Stable name of a kind, for programs: "low_efficiency".
std::string_view kind_name(FindingKind kind);

enum class Priority : uint8_t { kCritical, kHigh, kMedium, kLow };
std::string_view priority_name(Priority priority);

enum class Confidence : uint8_t { kHigh, kMedium, kLow };
std::string_view confidence_name(Confidence confidence);

// What reaching a target would give.
struct Projection {
  std::string target;  // "60 % of the limit"
  Nanos time;          // that the work would take then
  double gain = 0;     // of the wall time
};

// Calls of one op with one set of arguments, as evidence.
struct EvidenceOp {
  std::string op, shapes, types;
  size_t calls = 0;
  Nanos time;
  std::optional<double> efficiency, of_peak;
  std::string bound;                 // "memory", "compute"; empty: unknown
  std::vector<std::string> kernels;  // the longest first
  std::vector<std::string> sources;  // of each kernel file:line, where code was given; may be empty
};

// Where in the program work comes from. The texts are the trace's.
struct Place {
  // The innermost Python frame outside the framework. `line` is where its function begins, the
  // decorators included, as PyTorch's profiler records it; in a function that was already running
  // when recording began, the line that ran then. Empty: the trace has no such frame.
  std::string file, function;
  int64_t line = 0;
  std::string caller;     // "train.py:10 step": outside of libraries, where the frame is in one
  std::string module;     // "Llama_0/Block_*/Attention_*": nn.Modules, the outermost first
  std::string op;         // what the program called: the outermost op, or an annotation around it
  bool gradient = false;  // the work is the gradient of what runs there
  Nanos time;
  double share = 0;  // of the finding's covered time
};

// An event that a finding is about, GPU work or a call of the host, and how much of the finding's
// time it stands for.
struct CoveredEvent {
  EventId event;
  Nanos time;
};

// A remark. Only `name` is text of the trace, so that a renderer knows what to make inert.
struct Note {
  std::string before, name, after;
};

// What the upper end of a saving takes along beside the finding's own work.
struct GoesWith {
  bool gradients = false;      // of its ops
  bool beside = false;         // memory-bound ops of the same function calls
  bool launches = false;       // and waits of what goes
  bool between = false;        // all between the first and the last call of a loop
  bool functions = false;      // the whole function calls
  bool code_before = false;    // a wait: the host's code, and what computes the value asked for
  bool short_kernels = false;  // that fewer launches merge
};

// Something that costs time and could cost less. Of the texts only subject, category's ops, the
// evidence, the call stack and names in notes come from the trace; a title that speaks of the
// subject begins with it.
struct Finding {
  FindingKind kind = FindingKind::kLowEfficiency;
  Priority priority = Priority::kLow;
  std::string priority_reason;  // by which rule, and whether the possible saving lowered it
  Confidence confidence = Confidence::kMedium;
  std::string title;
  std::string category;  // of the analysis; empty for the system as a whole
  std::string subject;   // the op, or what part of the system
  std::string issue;     // what is wrong, in a sentence

  Nanos time;        // that it takes now
  double share = 0;  // of the wall time
  std::optional<double> efficiency;
  bool is_quiet_function = false;  // host code that launches nothing: host_functions.h
  bool in_single_ops = false;  // idle time between the launches of one op: no code can shorten it
  Nanos with_it;               // of other work and waits that may go with it: see saving_range.h
  GoesWith goes_with;
  // Of the time that the trace's length depends on: to the next band, and to the limit.
  Nanos saving_at_least, saving_at_most;

  std::string change_code;     // path A: change the model's code
  std::string improve_kernel;  // path B: keep the code; empty where no kernel is at fault
  std::string counters;        // which measurement would tell more; empty: none
  std::vector<Projection> projections;
  std::vector<EvidenceOp> evidence;
  std::vector<std::string> call_stack;  // outermost last
  std::vector<CoveredEvent> covered;    // an analysis fills this, and places follow from it
  std::vector<Place> places;            // a few, the most time first
  double unplaced = 0;                  // share of the covered time that has no place
  std::vector<Note> notes;
  // Title of the finding that has this one's time among its own, and saves more; empty: none.
  std::string under;
};

}  // namespace fathom
