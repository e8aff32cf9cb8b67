#pragma once

#include <string>

#include "analyze/assessment.h"

namespace fathom {

// Time by call path, as JSON. GPU time: "calls" (Python frames outside the framework, then ops)
// and "modules", where there are some. CPU time: "host" (all frames, ops and runtime calls, of
// several threads each apart). A node is [name, time ns, events, children]. Small ones are merged,
// so the size is bounded; the children of a node and its own time add up to it.
std::string page_trees(const Assessment& assessment);

}  // namespace fathom
