#pragma once

#include <string>

#include "analyze/assessment.h"
#include "analyze/finding.h"
#include "report/trace/summary.h"

namespace fathom {

// The parts that reports are put together from. Each begins without and ends with a line feed.
std::string md_title(const Finding& finding);
std::string md_evidence(const Finding& finding);     // a table, or nothing
std::string md_projections(const Finding& finding);  // a table, or nothing
std::string md_details(const Finding& finding);      // everything but title and the summary lines
std::string md_top_ops(const Assessment& assessment, size_t most);
// The ops of a trace without GPU work that take the most time.
std::string md_cpu_ops(const Summary::Cpu& cpu, size_t most);
std::string md_categories(const Assessment& assessment);
std::string md_category_ops(const AssessedCategory& category, const Assessment& assessment,
                            size_t most);

// "3.1–12.4 % of the trace"
std::string saving_text(const Finding& finding, const Assessment& assessment);
// What an upper end above the finding's own time takes along, a sentence; empty: it is not above.
std::string goes_with_text(const Finding& finding);
std::string efficiency_text(const std::optional<double>& efficiency);  // "–" where unknown

}  // namespace fathom
