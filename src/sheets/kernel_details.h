#pragma once

#include <string>
#include <vector>

#include "events/event_store.h"
#include "events/statistics.h"

namespace fathom {

// One kernel of an op, over all calls of the op in a group.
struct KernelDetail {
  std::string_view name;
  std::optional<int64_t> stream;
  TimeStatistics duration;
  size_t place = 0;  // in the launch order
};

// Calls are compared kernel by kernel in launch order. Calls that launched another number of
// kernels, or another kernel at a place, get entries of their own: a library may choose anew for
// each call, and time never stands under the name of another kernel. By total time, then name.
std::vector<KernelDetail> summarize_kernels(const EventStore& store,
                                            const std::vector<std::span<const EventId>>& calls);

// The cells kernel_details_summary and trunc_kernel_details.
std::string kernel_details_json(const std::vector<KernelDetail>& details);
std::string truncated_kernel_details_json(const std::vector<KernelDetail>& details);

}  // namespace fathom
