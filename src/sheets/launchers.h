#pragma once

#include <vector>

#include "sheets/gpu_selection.h"

namespace fathom {

// An op (or, where none is around it, a runtime call) together with the kernels it launched itself.
// Communication kernels are left out: they belong to coll_analysis. Not so in a trace without ops,
// whose rows are kernels.
struct Launcher {
  CallId call;
  std::vector<EventId> kernels;  // in the order of their starts
  std::string_view category;
  Nanos direct, subtree;  // busy time of its own kernels, and of all below it
};

// What a sheet calls it: the op, or the call. Of a recording without ops, all of whose calls have
// few names, its first kernel.
std::string_view launcher_name(const SheetInput& input, const Launcher& launcher);

// In the order of the launchers' starts.
std::vector<Launcher> find_launchers(const SheetInput& input);

// Launchers by their call. A dense table: calls are numbered, and it is asked once for each kernel.
class LauncherIndex {
 public:
  LauncherIndex(const CallTree& tree, const std::vector<Launcher>& launchers)
      : by_call_(tree.size()) {
    for (const Launcher& l : launchers) by_call_[l.call.index] = &l;
  }
  // Null for a call that launched nothing itself.
  const Launcher* find(CallId call) const { return by_call_[call.index]; }

 private:
  std::vector<const Launcher*> by_call_;
};

}  // namespace fathom
