#include "platform/occupancy.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/tsv.h"

extern const std::string_view sm_limits_tsv;

namespace fathom {
namespace {

constexpr int64_t kWarpThreads = 32, kRegisters = 65536, kRegisterUnit = 256, kParts = 4;
constexpr int64_t kMostThreads = 1024, kMostRegisters = 256;
constexpr int64_t kUnlimited = std::numeric_limits<int32_t>::max();

struct NamedLimits {
  std::string_view capability;
  SmLimits limits;
};

int64_t number_of(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  CHECK(error == std::errc() && end == text.data() + text.size());
  return value;
}

std::vector<NamedLimits> read_limits() {
  std::vector<NamedLimits> all;
  for (const auto& row : read_tsv(sm_limits_tsv, 7)) {
    all.push_back({row[0],
                   {number_of(row[1]), number_of(row[2]), number_of(row[3]) * 1024,
                    number_of(row[4]), number_of(row[5])}});
  }
  return all;
}

int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

const SmLimits* sm_limits(std::string_view capability) {
  static const std::vector<NamedLimits> all = read_limits();
  const auto found = std::ranges::find(all, capability, &NamedLimits::capability);
  return found == all.end() ? nullptr : &found->limits;
}

std::optional<Occupancy> theoretical_occupancy(const SmLimits& limits,
                                               const BlockResources& block) {
  if (block.threads <= 0 || block.threads > kMostThreads || block.registers < 0 ||
      block.registers > kMostRegisters || block.shared < 0 || block.shared > limits.shared_bytes)
    return {};
  Occupancy out;
  const int64_t warps = (block.threads + kWarpThreads - 1) / kWarpThreads;
  out.by_warps = limits.warps / warps;
  out.by_blocks = limits.blocks;
  const int64_t warp_registers = round_up(block.registers * kWarpThreads, kRegisterUnit);
  // Warps go to the four parts in turn, so a block needs registers as if it filled all of them.
  if (warp_registers * round_up(warps, kParts) > kRegisters) return {};
  out.by_registers =
      warp_registers == 0 ? kUnlimited : kRegisters / kParts / warp_registers * kParts / warps;
  const int64_t shared = round_up(block.shared + limits.reserved_shared, limits.shared_granule);
  out.by_shared = shared == 0 ? kUnlimited : limits.shared_bytes / shared;
  out.blocks = std::min({out.by_warps, out.by_blocks, out.by_registers, out.by_shared});
  if (out.blocks == 0) return {};
  out.warps = out.blocks * warps;
  out.percent = 100 * static_cast<double>(out.warps) / static_cast<double>(limits.warps);
  if (out.warps < limits.warps) {
    out.limiter = out.by_registers == out.blocks ? OccupancyLimiter::kRegisters
                  : out.by_shared == out.blocks  ? OccupancyLimiter::kShared
                                                 : OccupancyLimiter::kBlockSize;
  }
  return out;
}

}  // namespace fathom
