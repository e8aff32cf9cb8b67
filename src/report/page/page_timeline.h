#pragma once

#include <string>
#include <vector>

#include "analyze/assessment.h"
#include "analyze/critical/critical_path.h"
#include "report/page/page_columns.h"

namespace fathom {

// The timeline of a report page: where each row lies in the blocks, as JSON, and the blocks.
struct PageTimeline {
  std::string directory;
  std::string blocks;
  Nanos begin, end;
  // By event: its number in the page + 1; 0: it is not shown.
  std::vector<uint32_t> number;
};

// All events with a length of the trace, whatever the scope; idle time and the critical path are
// the scope's. `path` may be null.
PageTimeline page_timeline(const Assessment& assessment, const CriticalPath* path);

// "elementwise" of the category "reduce": what has a colour of its own.
std::string_view work_colour_of(std::string_view category);

}  // namespace fathom
