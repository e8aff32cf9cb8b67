#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/range_profiler_api.h"

namespace fathom::record {

// Metrics that are counted together, with CUPTI's plan for them.
struct MetricGroup {
  std::vector<std::string> names;
  std::vector<const char*> pointers;  // the same
  void* host = nullptr;               // evaluates them
  std::vector<uint8_t> config;
  size_t passes = 0;
};

// A metric to count: "a|b" is the first of them that the chip has; one that begins with "?" may be
// absent, and one that begins with "+" may need several passes, without a word about it.
//
// Divides metrics into groups that need one pass each, so that no kernel has to run again; a metric
// that needs more alone makes a group of its own. Those that the chip does not have are left out
// and named in `unknown`. Needs no GPU. With `one_group` all are counted together, in as many
// passes as it takes.
std::vector<MetricGroup> group_metrics(const cupti::RangeApi& api, const std::string& chip,
                                       const std::vector<std::string>& metrics, bool one_group,
                                       std::vector<std::string>& unknown);

}  // namespace fathom::record
