#include "story/expected_stalls.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/tsv.h"
#include "scan/facts/pattern_ids.h"
#include "story/compute_rate.h"

namespace fathom {
namespace {

bool accesses_global(const KernelFacts& kernel, AccessKind kind) {
  return std::ranges::any_of(kernel.accesses, [kind](const ArrayAccess& access) {
    return !access.shared && access.kind == kind;
  });
}

// Where the walk saw nothing, loads are expected.
bool reads_global(const KernelFacts& kernel) {
  return kernel.accesses.empty() || accesses_global(kernel, AccessKind::kRead) ||
         accesses_global(kernel, AccessKind::kAtomic);
}

}  // namespace

void expect_stalls(const KernelFacts& kernel, Expectation& out) {
  const auto add_stall = [&](std::string_view reason, std::string_view why) {
    out.stalls.push_back(fmt::format("{} ({})", reason, why));
    for (std::string_view one : split(reason, ',')) {
      if (one.starts_with(' ')) one.remove_prefix(1);
      out.stall_reasons.push_back(one);
    }
  };
  const bool async = shows(kernel, pattern_id::kCpAsync) || shows(kernel, pattern_id::kTmaLoad);
  if (out.side == Bottleneck::kSharedMemory)
    add_stall("short_scoreboard, mio_throttle", "shared-memory bound");
  if (shows(kernel, pattern_id::kWgmma)) add_stall("gmma", "warpgroups wait for MMA results");
  if (!async && reads_global(kernel)) add_stall("long_scoreboard", "waits for global loads");
  if (shows(kernel, pattern_id::kMbarrier) || shows(kernel, pattern_id::kNamedBarrier) ||
      shows(kernel, pattern_id::kBlockBarrier)) {
    add_stall("barrier", "barriers in the code");
  }
  if (out.side != Bottleneck::kSharedMemory &&
      (shows(kernel, pattern_id::kWarpShuffle) || shows(kernel, pattern_id::kTileReduce) ||
       shows(kernel, pattern_id::kLdmatrix) || shows(kernel, pattern_id::kSharedStatic) ||
       shows(kernel, pattern_id::kSharedDynamic))) {
    add_stall("short_scoreboard, mio_throttle", "shuffles or shared memory");
  }
  if (shows(kernel, pattern_id::kAtomics)) add_stall("lg_throttle", "atomic operations");
  if (out.side == Bottleneck::kCompute || !reads_global(kernel))
    add_stall("wait, math_pipe_throttle", "arithmetic");
  if (!reads_global(kernel) && accesses_global(kernel, AccessKind::kWrite))
    add_stall("lg_throttle", "stores");
}

}  // namespace fathom
