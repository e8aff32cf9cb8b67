#pragma once

#include <optional>
#include <string_view>

#include "analyze/assessment.h"
#include "analyze/finding.h"

namespace fathom {

// A tool of the framework (data/analysis/frames.tsv) that runs Python code around most ops: a
// counter, a checker, a log.
struct ToolLeftOn {
  std::string_view file;
  double share = 0;  // of the ops that launch GPU work
  Place enter;       // where the program turns it on; without a file where that is not recorded
};
std::optional<ToolLeftOn> find_tool_left_on(const Assessment& assessment);

}  // namespace fathom
