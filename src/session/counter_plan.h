#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace fathom {

// The metrics of a set in data/metrics/counter_sets.tsv; basic is part of every set, full is all.
// Nothing for a name that is none.
std::optional<std::vector<std::string>> counter_metrics(std::string_view set);
std::vector<std::string> counter_set_names();
// What --pm-sampling asks for.
std::vector<std::string> sampled_metrics();

// The kernels of a capture that are worth counting: those with the most GPU time, up to a share of
// it. Kernels that wait for other GPUs or processes are left out: counting makes each wait for its
// end.
struct KernelsToCount {
  std::vector<std::string> keys;  // as the recorder knows a launch
  Nanos total, chosen;            // GPU time of all kernels, and of those
};
Result<KernelsToCount> choose_kernels(const std::filesystem::path& capture);

}  // namespace fathom
