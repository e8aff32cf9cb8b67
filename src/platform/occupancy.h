#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

// How many warps of a kernel fit on a multiprocessor of an NVIDIA GPU.
namespace fathom {

// data/platforms/sm_limits.tsv
struct SmLimits {
  int64_t warps = 0, blocks = 0;
  int64_t shared_bytes = 0, shared_granule = 0, reserved_shared = 0;
};
// Of a compute capability, "9.0"; null: not known.
const SmLimits* sm_limits(std::string_view capability);

struct BlockResources {
  int64_t threads = 0;
  int64_t registers = 0;  // of a thread
  int64_t shared = 0;     // static and dynamic, bytes
};

// What allows the fewest blocks.
enum class OccupancyLimiter : uint8_t {
  kNone,  // all warps of the multiprocessor can be used
  kRegisters,
  kShared,
  kBlockSize,  // the block's warps do not divide the multiprocessor's, or its blocks are too few
};

struct Occupancy {
  int64_t blocks = 0;  // on a multiprocessor
  int64_t warps = 0;
  double percent = 0;
  OccupancyLimiter limiter = OccupancyLimiter::kNone;
  // Blocks that each resource allows alone.
  int64_t by_registers = 0, by_shared = 0, by_warps = 0, by_blocks = 0;
};
// Nothing where such a block cannot be launched.
std::optional<Occupancy> theoretical_occupancy(const SmLimits& limits, const BlockResources& block);

}  // namespace fathom
