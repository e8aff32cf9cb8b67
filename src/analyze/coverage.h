#pragma once

#include <string>
#include <vector>

#include "analyze/assessment.h"

namespace fathom {

// Why work was not held against a limit, and so what would help.
enum class NotAssessed : uint8_t {
  kPlatform,  // the GPU is not known
  kGraphs,    // kernels of graph launches: no op, no shapes
  kNoOps,     // the recorder keeps kernels alone
  kNoShapes,  // the ops were recorded without shapes
  kUnknownOps,
  kUnlinked,  // kernels whose launch is not in the file
  kCount,
};
// Stable name, for programs: "unknown_ops".
std::string_view not_assessed_name(NotAssessed reason);

struct Coverage {
  struct Gap {
    NotAssessed reason;
    double share = 0;                   // of the GPU time
    std::vector<std::string> examples;  // ops or kernels, the longest first, a few
  };
  // Of the GPU time of kernels, but for collectives and copies over a link, which are measured by
  // what they expose.
  double assessed = 0;
  std::vector<Gap> gaps;  // the largest first

  double missing() const { return 1 - assessed; }
};
Coverage measure_coverage(const Assessment& a);
// Of an op without an efficiency.
NotAssessed not_assessed_reason(const Assessment& a, const AssessedOp& op);

}  // namespace fathom
