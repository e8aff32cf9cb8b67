#pragma once

#include <string>
#include <vector>

#include "analyze/pipeline.h"
#include "report/trace/summary.h"
#include "story/run/run_story.h"

namespace fathom {

struct ReportFile {
  std::string path, content;
};

// What an analysis found, for every renderer; none of them computes anything.
struct AnalysisView {
  const Summary& summary;
  const Assessment& assessment;
  const std::vector<Finding>& findings;
  const std::vector<std::string>& replay_packages;  // paths in the report
  const RunStory& story;
};

// category_data/, metadata/ and category_manifest.json.
std::vector<ReportFile> category_files(const AnalysisView& view);
// category_findings/CATEGORY_findings.md
std::vector<ReportFile> category_findings_files(const AnalysisView& view);
// SVG beside the report; empty: there is nothing to draw.
struct ReportPictures {
  std::string timeline, roofline;
};
// For stakeholders: what matters and what to do, in at most 900 words.
std::string fair_report(const AnalysisView& view, const ReportPictures& pictures);
// Working notes: steps, tables, all findings in detail, trees, gaps, open questions.
std::string rough_report(const AnalysisView& view);

// All of the above, the pictures, and story.md.
std::vector<ReportFile> analysis_files(const AnalysisView& view);

}  // namespace fathom
