#pragma once

#include <optional>
#include <vector>

#include "platform/platform.h"
#include "scan/facts/code_facts.h"
#include "story/expected_launch.h"
#include "story/kernel_model.h"
#include "story/parameters.h"

namespace fathom {

constexpr double kWarpThreads = 32;
// NVIDIA's limit of a compute unit since Volta, but for the small Turing, Ampere and Ada chips.
constexpr double kUnitWarps = 64, kUnitBlocks = 32;

struct WaitingKernel {
  const KernelFacts& kernel;
  const ChosenModel& model;
  const std::optional<ExpectedLaunch>& launch;
  const KernelValues& values;
  const Platform& platform;
  double bytes_read;  // at most
};
// Loads that wait for one another, and the waves of blocks; seconds.
struct ExpectedWaits {
  double low = 0, high = 0, rounds = 0;
};
// `open_ends` gets what leaves them with a lower bound alone.
ExpectedWaits expect_waits(const WaitingKernel& of, std::vector<OpenEnd>& open_ends);

}  // namespace fathom
