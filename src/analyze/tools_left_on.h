#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "analyze/assessment.h"
#include "analyze/finding.h"

namespace fathom {

// A tool of the framework (data/analysis/frames.tsv) that runs Python code around most ops: a
// counter, a checker, a log.
struct ToolLeftOn {
  std::string_view file;
  double share = 0;    // of the ops that launch GPU work
  Place enter;         // where the program turns it on; without a file where that is not recorded
  double of_time = 0;  // of the late launches asked for: those inside of its frames
};
std::optional<ToolLeftOn> find_tool_left_on(const Assessment& assessment,
                                            std::span<const CoveredEvent> late);

}  // namespace fathom
