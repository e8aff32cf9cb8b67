#pragma once

#include <string>

#include "report/trace/analysis_files.h"

namespace fathom {

// timeline.svg: what each stream of a GPU ran over time, by kind of work, with the steps above and
// the longest gaps below. Its size does not depend on the trace's. Empty without GPU work.
std::string timeline_drawing(const AnalysisView& view);

}  // namespace fathom
