#pragma once

#include <string>
#include <vector>

#include "analyze/assessment.h"
#include "analyze/finding.h"

namespace fathom {

// Python functions that run while the GPU is idle and launch nothing, each too short for a gap of
// its own cause: hooks, statistics, walks over modules. The largest first, a few.
struct HostFunction {
  Finding finding;
  // What is known of most of its time (data/analysis/expensive_calls.tsv); empty: nothing.
  std::string name, what, instead;
};
std::vector<HostFunction> find_host_functions(const Assessment& a);
// Adds what is known to a finding about the same function.
void tell_known(const HostFunction& function, Finding& f);

}  // namespace fathom
