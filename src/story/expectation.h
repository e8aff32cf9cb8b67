#pragma once

#include <optional>
#include <string>
#include <vector>

#include "platform/platform.h"
#include "scan/facts/code_facts.h"
#include "story/expected_launch.h"
#include "story/kernel_model.h"
#include "story/parameters.h"

namespace fathom {

// The part of the GPU that limits a kernel.
enum class Bottleneck : uint8_t { kUnknown, kMemory, kCompute, kSharedMemory, kL1, kLatency };
std::string_view bottleneck_name(Bottleneck bottleneck);  // "shared memory"; empty: unknown

enum class Quantity : uint8_t {
  kOther,
  kBytesRead,
  kBytesWritten,
  kTime,
  kYesOrNo,
  kFlops,
  kDramPercent,
  kTensorPercent,
  kL1Percent,
  kOccupancy
};

// A number that a formula gives, with the formula; unknown where a parameter of it is.
struct Estimate {
  std::string name, unit, formula;
  std::optional<double> low, high;  // equal: one value
  Quantity quantity = Quantity::kOther;

  bool known() const { return low.has_value() && high.has_value(); }
  bool at_least() const { return low.has_value() && !high.has_value(); }
};

// What a kernel is expected to do, before it ran: every number is estimated, with its formula.
struct Expectation {
  std::optional<ChosenModel> model;
  std::string no_model;  // why there is none
  std::optional<ExpectedLaunch> launch;
  std::vector<Estimate> traffic;   // FLOPs, bytes, intensity
  std::vector<Estimate> counters;  // time, DRAM %, tensor %, occupancy
  Bottleneck side = Bottleneck::kUnknown;
  std::vector<std::string> stalls;  // the reasons to look for, the likeliest first, each with why
  std::vector<std::string_view> stall_reasons;  // the same as counters name them
  std::vector<std::string> missing;             // parameters that would make more of it known
  std::vector<std::string> remarks;             // sentences: what was given and not used
  std::vector<OpenEnd> open_ends;               // why totals or the time have a lower bound alone
  std::vector<std::string> flags;  // tests that decide accesses and that --param would settle
};

// Without a platform only what does not depend on one.
Expectation expect_of(const KernelFacts& kernel, const Parameters& parameters,
                      const Platform* platform);

// Of a launch that ran, at one end of what it tells of the kernel's names. `own`: its template
// arguments. Both must outlive the call.
struct LaunchOfKernel {
  const KernelLauncher* launcher = nullptr;
  const KernelValues::Own* own = nullptr;
  std::optional<double> theoretical_occupancy;  // percent, by its registers and shared memory
};
Expectation expect_of(const KernelFacts& kernel, const LaunchOfKernel& launch,
                      const Parameters& parameters, const Platform* platform);

}  // namespace fathom
