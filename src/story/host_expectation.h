#pragma once

#include <vector>

#include "story/expectation.h"

namespace fathom {

// What a host function is expected to cost, where its evidence fits a known kind: a comparison of
// two sequences, a collective.
struct HostExpectation {
  std::string title;
  std::vector<Estimate> estimates;
  std::vector<std::string> missing;
};
HostExpectation expect_of(const HostFacts& host, const Parameters& parameters,
                          const Platform* platform);

}  // namespace fathom
