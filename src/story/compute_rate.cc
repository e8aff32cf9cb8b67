#include "story/compute_rate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "scan/facts/pattern_ids.h"
#include "story/assumptions.h"

namespace fathom {
namespace {

// Instructions that reach the whole rate of the matrix units; registers are moved between
// warpgroups for wgmma alone.
constexpr std::array<std::string_view, 5> kWholeRate = {pattern_id::kWgmma, pattern_id::kTcgen05,
                                                        pattern_id::kMfma, pattern_id::kTileDot,
                                                        "setmaxnreg"};
constexpr std::array<std::string_view, 2> kWarpLevel = {pattern_id::kMmaSync, pattern_id::kWmma};

}  // namespace

bool shows(const KernelFacts& kernel, std::string_view what) {
  return std::any_of(kernel.evidence.begin(), kernel.evidence.end(),
                     [&](const CodeEvidence& evidence) {
                       return evidence.what == what && evidence.certainty != Certainty::kUnsure;
                     });
}

ComputeRate compute_rate(const KernelFacts& kernel, const Platform& platform,
                         std::optional<double> element_bytes) {
  const auto any = [&](const auto& ids) {
    return std::any_of(ids.begin(), ids.end(),
                       [&](std::string_view id) { return shows(kernel, id); });
  };
  ComputeRate out;
  const bool whole = any(kWholeRate), warp_level = any(kWarpLevel);
  out.tensor = whole || warp_level;
  const double bytes = element_bytes.value_or(2);
  const char* spec = !out.tensor  ? "vector_fp32"
                     : bytes == 1 ? "matrix_fp8"
                     : bytes == 2 ? "matrix_bf16"
                                  : "matrix_tf32";
  const Rate* rate = platform.find(spec);
  const auto limit = rate == nullptr ? std::nullopt : limit_of(*rate);
  out.achievable = limit ? limit->rate : INFINITY;
  out.peak = rate != nullptr && rate->peak ? *rate->peak : out.achievable;
  out.said = fmt::format("{} rate", spec);
  // Since Hopper warps alone cannot feed the matrix units.
  const bool hopper = platform.architecture == "sm_90" || platform.architecture == "sm_90a";
  if (warp_level && !whole && hopper) {
    out.achievable *= assumption("mma_sync_share");
    out.said += fmt::format(" × {} for mma.sync on {}", assumption("mma_sync_share"),
                            platform.architecture);
  }
  return out;
}

}  // namespace fathom
