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

// Of metrics to sample, in order, those that fit into one pass together. The others are named in
// `left_out`. `availability`: what the GPU at hand can count, from CUPTI; may be null.
MetricGroup sampled_metrics(const cupti::RangeApi& api, const std::string& chip,
                            const uint8_t* availability, const std::vector<std::string>& metrics,
                            std::vector<std::string>& left_out);

}  // namespace fathom::record
