#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "session/trace.h"

namespace fathom {

// A kernel as both traces can know it.
struct SeenKernel {
  std::string_view name;
  std::optional<Dim3> grid;

  bool fits(const SeenKernel& other) const {
    if (name != other.name) return false;
    if (!grid || !other.grid) return true;
    return grid->x == other.grid->x && grid->y == other.grid->y && grid->z == other.grid->z;
  }
};

struct CapturedNode {
  EventKind kind = EventKind::kKernel;
  EventId launch;
  std::optional<SeenKernel> seen;  // of a call of the same op that ran
  std::string_view category;       // of its op; empty: not known
};

struct CapturedGraph {
  Nanos begin, end;
  std::vector<CapturedNode> nodes;
  std::vector<EventId> calls;  // ops and launches, parents first
};

// What a trace has between cudaStreamBeginCapture and cudaStreamEndCapture, in the order of time.
std::vector<CapturedGraph> find_captured_graphs(const Trace& capture);

}  // namespace fathom
