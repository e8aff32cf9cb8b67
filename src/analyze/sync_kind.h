#pragma once

#include <string_view>

#include "sheets/gpu_selection.h"

namespace fathom {

// How a program asked for a wait.
struct SyncKind {
  std::string_view text;   // ".item()", "boolean index", "torch.cuda.synchronize()"; else the call
  std::string_view trait;  // of data/analysis/advice.tsv; empty: the call alone is known
};
SyncKind sync_kind(const SheetInput& input, EventId wait);

// Whether a wait is part of an op, so that a graph of the step cannot be captured with it.
inline bool forbids_capture(const SyncKind& kind) {
  return !kind.trait.empty() && kind.trait != "asked_for";
}

}  // namespace fathom
