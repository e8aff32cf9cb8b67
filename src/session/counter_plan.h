#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "capture/format.h"

namespace fathom {

// The metrics of a set in data/metrics/counter_sets.tsv; basic is part of every set, full is all.
// Nothing for a name that is none.
std::optional<std::vector<std::string>> counter_metrics(std::string_view set);
std::vector<std::string> counter_set_names();
// What --pm-sampling asks for.
std::vector<std::string> sampled_metrics();

// "mangled\t128,1,1\t256,1,1\t0": how the recorder knows a launch.
std::string launch_key(std::string_view name, const capture::Kernel& kernel);

// Calls visit(name, kernel) for each kernel of a capture: the mangled name where there is one,
// empty where it is lost.
Status for_each_kernel(const std::filesystem::path& capture,
                       const std::function<void(std::string_view, const capture::Kernel&)>& visit);

// The kernels of a capture that are worth counting: those with the most GPU time, up to a share of
// it. Kernels that wait for other GPUs or processes are left out: counting makes each wait for its
// end.
struct KernelsToCount {
  std::vector<std::string> keys;  // as the recorder knows a launch
  Nanos total, chosen;            // GPU time of all kernels, and of those
};
Result<KernelsToCount> choose_kernels(const std::filesystem::path& capture);

}  // namespace fathom
