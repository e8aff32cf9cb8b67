#pragma once

#include <vector>

#include "scan/accesses/index_space.h"
#include "scan/facts/code_facts.h"

namespace fathom {

// A test around an access that is no bound of its index.
struct AccessCondition {
  std::string flag;      // the test, where it is the same for all threads; empty: it is not
  bool of_jump = false;  // holds behind a break or continue, to the end of the loop
};

// An access with its index, as the walk that found it knows it.
struct AccessSite {
  size_t access = 0;  // its position among the accesses
  Polynomial where, step;
  std::optional<Polynomial> elements, times;
  bool alternative = false;  // in a branch that another one excludes
  bool at_most = false;      // `elements` is only an upper bound
  std::vector<AccessCondition> conditions = {};
};

// Says of each access whether a test decides it, and which. Sites of both branches of an if that
// touch the same elements must have lost its test before.
void set_conditions(std::vector<ArrayAccess>& accesses, const std::vector<AccessSite>& sites);

// Takes the test at `depth` from accesses that both branches make: those of the sites from `first`
// to `middle`, and from there on.
void join_branches(std::vector<AccessSite>& sites, const std::vector<ArrayAccess>& accesses,
                   size_t first, size_t middle, size_t depth);

// What the accesses of each array of global memory come to, in the order of their first.
std::vector<ArrayTraffic> traffic_totals(const std::vector<ArrayAccess>& accesses,
                                         const std::vector<AccessSite>& sites,
                                         const IndexSpace& space);

}  // namespace fathom
