#pragma once

#include <string>

#include "analyze/assessment.h"

namespace fathom {

// GPU time by call path, as JSON: "calls" (Python frames outside the framework, then ops)
// and "modules", where there are some. A node
// is [name, GPU time ns, events, children]. Small ones are merged, so the size is bounded; the
// children of a node and its own time add up to it.
std::string page_trees(const Assessment& assessment);

}  // namespace fathom
