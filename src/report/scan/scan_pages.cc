#include <fmt/format.h>

#include "base/check.h"
#include "report/scan/expected_measured_text.h"
#include "report/scan/inventory_pages.h"
#include "report/scan/scan_report.h"

namespace fathom {
namespace {

// Browsers and GitHub still render a page of this size. Pages that can grow are divided or cut long
// before it, where their structure is known; this holds whatever a repository contains.
constexpr size_t kLargestPage = 1'000'000;

void bound(ReportPage& page) {
  if (page.text.size() <= kLargestPage) return;
  const size_t left_out = page.text.size() - kLargestPage;
  const size_t line = page.text.rfind('\n', kLargestPage);
  page.text.resize(line == std::string::npos ? 0 : line + 1);
  page.text += fmt::format("\nThis page ends here: {} kB more. All facts are in scan.json.\n",
                           left_out / 1000 + 1);
}

}  // namespace

std::vector<ReportPage> scan_pages(const ScanReport& report) {
  const CodeFacts& facts = report.facts;
  CHECK(report.stories.kernels.size() == facts.kernels.size());
  CHECK(report.stories.host_functions.size() == facts.host_functions.size());
  KernelPages kernels = kernel_pages(facts, report.stories, report.measured);
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
  if (!report.measured.empty()) {
    pages.push_back({"expected_vs_measured.md", compared_page(facts.repository, report.measured)});
  }
  add(entry_point_pages(facts));
  add(option_pages(facts));
  add(dependency_pages(facts));
  for (ReportPage& page : pages) bound(page);
  return pages;
}

}  // namespace fathom
