#pragma once

#include <string>
#include <vector>

#include "base/table.h"
#include "report/page/html_page.h"
#include "report/page/page_timeline.h"
#include "report/trace/analysis_files.h"

namespace fathom {

// report.html: the analysis as a page for a browser, of the values that the other files have.
// `timeline` and `trees` are made beforehand, beside other work.
std::string analysis_page(const AnalysisView& view, const std::vector<Table>& sheets,
                          PageTimeline timeline, const std::string& trees);

}  // namespace fathom
