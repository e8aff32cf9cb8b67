#include "story/serial_waits.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text_parts.h"
#include "scan/facts/expression.h"
#include "story/assumptions.h"

namespace fathom {
namespace {

constexpr double kSectorBytes = 32;

// The accesses whose innermost loop is the same.
struct LoopAccesses {
  double rounds = 1;
  bool known = true, always = false;  // always: some of them are under no test
  bool loads = false, through_index = false, stores = false, shared = false, shared_atomics = false;
  double new_sectors = 0;  // of a round: the part of the loads that leave L1
  double spread = 0;       // accesses of a round whose threads lie far apart
};

// The part of the rounds in which a warp waits for a new sector. Threads side by side always do;
// threads with a row each only where a sector ends, if all rows are aligned alike.
double new_sectors(const ArrayAccess& access, const KernelValues& values, double element) {
  const bool side_by_side = access.pattern == AccessPattern::kColumnsOfRow ||
                            access.pattern == AccessPattern::kNeighboursByRound ||
                            access.pattern == AccessPattern::kOnePerThread ||
                            access.pattern == AccessPattern::kThroughIndex ||
                            access.pattern == AccessPattern::kTilePerProgram;
  if (side_by_side) return 1;
  const double share = std::min(1.0, element / kSectorBytes);
  if (access.pattern != AccessPattern::kStrided) return share;
  const auto lane = [&](double thread) {
    return evaluate(access.lane_index, [&](std::string_view name) {
      return name == "threadIdx.x" ? std::optional(thread) : values.named(name);
    });
  };
  const auto first = lane(0), second = lane(1);
  if (!first || !second) return 1;
  return std::fmod(std::abs(*second - *first) * element, kSectorBytes) == 0 ? share : 1;
}

bool is_spread(AccessPattern pattern) {
  return pattern == AccessPattern::kStrided || pattern == AccessPattern::kUnknown;
}

std::map<uint32_t, LoopAccesses> by_loop(const KernelFacts& kernel, const KernelValues& values) {
  std::map<uint32_t, LoopAccesses> out;
  for (const ArrayAccess& access : kernel.accesses) {
    LoopAccesses& loop = out[access.loop];
    const auto rounds = values.evaluate(access.rounds);
    if (!rounds) loop.known = false;
    loop.rounds = std::max(loop.rounds, rounds.value_or(1));
    loop.always = loop.always || !access.conditional;
    if (access.shared) {
      loop.shared = true;
      loop.shared_atomics = loop.shared_atomics || access.kind == AccessKind::kAtomic;
      continue;
    }
    loop.spread += is_spread(access.pattern) ? 1 : 0;
    loop.stores = loop.stores || access.kind != AccessKind::kRead;
    if (access.kind == AccessKind::kWrite) continue;
    loop.loads = true;
    loop.through_index = loop.through_index || access.pattern == AccessPattern::kThroughIndex;
    const double known = values.element_bytes().value_or(4);
    const double element = access.element_bytes ? *access.element_bytes : known;
    const double width = access.access_bytes ? *access.access_bytes : element;
    loop.new_sectors =
        std::max(loop.new_sectors, new_sectors(access, values, std::max(width, element)));
  }
  return out;
}

// A store to memory that a load may read keeps the compiler from moving loads of later rounds
// before it.
bool may_alias(const KernelFacts& kernel) {
  return kernel.kind == KernelKind::kCuda && !holds(kernel.parameters, "restrict");
}

}  // namespace

SerialWaits serial_waits(const KernelFacts& kernel, const KernelValues& values) {
  const double memory = assumption("memory_latency"), near = assumption("l1_latency"),
               shared = assumption("shared_latency"), together = assumption("loads_in_flight"),
               far = assumption("l2_latency");
  SerialWaits out;
  for (const auto& [line, loop] : by_loop(kernel, values)) {
    if (!loop.known) out.known = false;
    out.most_rounds = std::max(out.most_rounds, loop.rounds);
    const double missed = loop.new_sectors * memory;
    // An atomic on shared memory is a loop of its own: load, add, compare.
    if (loop.shared) out.high += loop.rounds * shared * (loop.shared_atomics ? 4 : 1);
    if (loop.loads) {
      const double steps = loop.through_index ? 2 : 1;
      const bool one_by_one = loop.stores && may_alias(kernel);
      // Where a warp's threads lie far apart, each of its 32 lines is looked up by itself.
      out.high += loop.rounds * (steps * missed + (1 + loop.spread) * near);
      // Rounds of the thread that has most, in a triangle half as many on average; what is read may
      // lie in L2.
      const double rounds = loop.rounds / (one_by_one ? 1 : together) / 2;
      if (loop.always) out.low += std::max(1.0, rounds) * (loop.new_sectors * far + near);
    } else if (loop.shared && loop.always) {
      out.low += loop.rounds * shared / together / 2;
    }
  }
  return out;
}

}  // namespace fathom
