#pragma once

#include <string>

#include "report/report_page.h"
#include "scan/facts/code_facts.h"

namespace fathom {

// features.md: which techniques the code uses, what they mean for the hardware, which options
// affect them and what to measure. Of a few features everything is on it; of many the overview
// alone, and a page of features/ for each area has them in full.
struct FeaturePages {
  std::vector<ReportPage> pages;   // features.md first
  std::vector<std::string> links;  // of each feature, from the report's directory
};
// The links are the kernels', from the report's directory; none: kernels are named without.
FeaturePages feature_pages(const CodeFacts& facts,
                           const std::vector<std::string>& kernel_links = {});

}  // namespace fathom
