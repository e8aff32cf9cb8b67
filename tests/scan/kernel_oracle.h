#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::test {

struct OracleKernel {
  std::string name;
  uint32_t line_last;
  friend auto operator<=>(const OracleKernel&, const OracleKernel&) = default;
};

// The kernels whose definition is written out with __global__, found in another way than the
// scanner's: comments, strings and directives made blank, then brackets counted. Slow and simple;
// knows nothing of macros.
std::vector<OracleKernel> literal_kernels(std::string_view text);

}  // namespace fathom::test
