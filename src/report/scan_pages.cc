#include "report/inventory_pages.h"
#include "report/scan_report.h"

namespace fathom {

std::vector<ReportPage> scan_pages(const CodeFacts& facts, const StoryContext& context) {
  KernelPages kernels = kernel_pages(facts, context);
  FeaturePages features = feature_pages(facts, kernels.links);
  std::vector<ReportPage> pages;
  const auto add = [&pages](std::vector<ReportPage> more) {
    for (ReportPage& page : more) pages.push_back(std::move(page));
  };
  pages.push_back({"quick_scan.md", quick_scan_markdown(facts, kernels, features)});
  pages.push_back({"repo_analysis.md", repo_analysis_markdown(facts)});
  pages.push_back({"architecture.md", architecture_markdown(facts)});
  add(std::move(features.pages));
  add(std::move(kernels.pages));
  add(entry_point_pages(facts));
  add(option_pages(facts));
  add(dependency_pages(facts));
  return pages;
}

}  // namespace fathom
