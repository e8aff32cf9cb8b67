#pragma once

#include <string>
#include <vector>

#include "report/report_listing.h"
#include "report/scan/features_markdown.h"
#include "report/scan/kernel_pages.h"
#include "report/screen.h"
#include "scan/facts/code_facts.h"
#include "story/measured_run.h"

namespace fathom {

// What a scan of a repository says: the screen, scan.json and the markdown files all show this, and
// open no file.
struct ScanReport {
  CodeFacts facts;
  Stories stories;                         // of these facts
  std::vector<MeasuredRun> measured = {};  // what recordings tell of these kernels
};

// The lists of scan.json that can be asked for by name.
inline constexpr const char* kScanParts[] = {
    "kernels",  "options", "entry_points", "dependencies", "host_functions", "components",
    "features", "modules", "api",          "request_path", "doc_claims",     "files"};

// Everything, or only the parts named. docs/scan_json.md says what the keys mean.
std::string scan_json(const ScanReport& report, const std::vector<std::string>& parts = {});
// The same facts of the parts for people: one line for each, file:line first.
std::string scan_lines(const CodeFacts& facts, const std::vector<std::string>& parts);

// The top level, within five pages whatever the repository: what it is, how to start and set it,
// components, features, kernels, the way of a request, key modules, needs. Links down.
std::string quick_scan_markdown(const CodeFacts& facts, const KernelPages& kernels,
                                const FeaturePages& features);
// Directory structure, key modules, API surface, dependencies, contradictions.
std::string repo_analysis_markdown(const CodeFacts& facts);
// Overview with diagrams, the parts, the data flow, the request path.
std::string architecture_markdown(const CodeFacts& facts);
// All markdown files of the report, quick_scan.md first.
std::vector<ReportPage> scan_pages(const ScanReport& report);
// One screen.
std::string scan_text(const ScanReport& report, const TerminalStyle& style,
                      const ReportListing& written = {});

}  // namespace fathom
