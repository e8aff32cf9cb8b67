#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "platform/platform.h"
#include "scan/facts/code_facts.h"

namespace fathom {

// How fast the arithmetic of a kernel can go, by the instructions that its code shows.
struct ComputeRate {
  bool tensor = false;
  double achievable = 0, peak = 0;  // FLOP/s; infinite where the platform says nothing of it
  std::string said;                 // "the bf16 matrix rate × 0.5 for mma.sync"
};

ComputeRate compute_rate(const KernelFacts& kernel, const Platform& platform,
                         std::optional<double> element_bytes);

// Whether the code shows something of data/features/code_patterns.tsv, and not unsurely.
bool shows(const KernelFacts& kernel, std::string_view what);

}  // namespace fathom
