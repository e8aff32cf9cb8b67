#pragma once

#include <vector>

#include "scan/accesses/index_space.h"
#include "scan/facts/code_facts.h"

namespace fathom {

// An access with its index, as the walk that found it knows it.
struct AccessSite {
  size_t access = 0;  // its position among the accesses
  Polynomial where, step;
  std::optional<Polynomial> elements, times;
  bool alternative = false;  // in a branch that another one excludes
};

// What the accesses of each array of global memory come to, in the order of their first.
std::vector<ArrayTraffic> traffic_totals(const std::vector<ArrayAccess>& accesses,
                                         const std::vector<AccessSite>& sites,
                                         const IndexSpace& space);

}  // namespace fathom
