#pragma once

#include <string>
#include <vector>

#include "sheets/gpu_selection.h"
#include "sheets/launchers.h"

namespace fathom {

// One row's worth of unified_perf_summary: an op taken as a whole, with all GPU work below it.
struct UnifiedOp {
  EventId event;  // a synthetic op stands in for the event that its kernel was launched under
  int64_t uid;    // the event's position; synthetic ops are numbered on from the end of the file
  std::string name;
  std::string_view category;
  std::vector<EventId> kernels;
  bool has_model = false;
  EventId forward;  // the op whose gradient it is, where the model of that one covers it
};

// Whether copy engines did all of its work.
bool is_copied(const EventStore& store, const UnifiedOp& op);

// Each kernel of the scope once, but for communication. From every root op downwards: an op with a
// cost model is taken whole, unless autocast runs it in half precision below or torch.func with
// other sizes; so is the gradient of a forward op whose model covers it, unless an op below has a
// model of its own; so is an op that launches kernels itself, with none below that has a model.
// Kernels that remain become synthetic ops "parent->kernel (Synthetic Op)".
std::vector<UnifiedOp> find_unified_ops(const SheetInput& input,
                                        const std::vector<Launcher>& launchers);

}  // namespace fathom
