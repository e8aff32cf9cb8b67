#pragma once

#include "analyze/critical/what_if.h"
#include "report/trace/summary.h"

namespace fathom {

// The critical path as a report tells it, by step.
Summary::Path summarize_path(const SheetInput& input, const CriticalPath& path);

// Fails where there is no path, or a name matches nothing.
Result<std::vector<Summary::WhatIf>> answer_questions(const SheetInput& input,
                                                      const CriticalPath& path,
                                                      const std::vector<WhatIfQuestion>& questions);

}  // namespace fathom
