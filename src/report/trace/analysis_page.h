#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/table.h"
#include "report/page/html_page.h"
#include "report/page/page_timeline.h"
#include "report/trace/analysis_files.h"
#include "sheets/kernel_contexts.h"

namespace fathom {

// Most of a page, of what is known before the summary and the story are: it is made beside them.
struct AnalysisPageParts {
  PageTimeline timeline;
  std::string trees, findings, ops, tables, hardware;  // JSON
};
AnalysisPageParts analysis_page_parts(const Assessment& assessment,
                                      const std::vector<Finding>& findings,
                                      const CriticalPath& path, std::span<const Table> sheets,
                                      const std::vector<KernelContext>& kernels);

// report.html: the analysis as a page for a browser, of the values that the other files have.
// `more_sheets`: those that came after the parts were made.
std::string analysis_page(const AnalysisView& view, AnalysisPageParts parts,
                          std::span<const Table> more_sheets);

}  // namespace fathom
