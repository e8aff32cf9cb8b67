#pragma once

#include <string>
#include <vector>

#include "report/kernel_story.h"
#include "report/screen.h"
#include "scan/code_facts.h"

namespace fathom {

// What a scan of a repository says: the screen, scan.json and the markdown files all show this.
struct ScanReport {
  CodeFacts facts;
  StoryContext context;
  std::string report;  // the directory; empty: none was written
  std::vector<std::string> files;
};

// The lists of scan.json that can be asked for by name.
inline constexpr const char* kScanParts[] = {
    "kernels",  "options", "entry_points", "dependencies", "host_functions", "components",
    "features", "modules", "api",          "request_path", "doc_claims",     "files"};

// Everything, or only the parts named. docs/scan_json.md says what the keys mean.
std::string scan_json(const CodeFacts& facts, const std::vector<std::string>& parts = {});
// The same facts of the parts for people: one line for each, file:line first.
std::string scan_lines(const CodeFacts& facts, const std::vector<std::string>& parts);

// README, entry points, configuration, key directories, languages, size.
std::string quick_scan_markdown(const CodeFacts& facts);
// The kernel report: a table, then a section for each kernel with its execution story and what is
// expected of the hardware. Of many kernels (kMaxStories) the inventory alone; --kernel asks for
// others.
inline constexpr size_t kMaxStories = 60;
std::string kernels_markdown(const CodeFacts& facts, const StoryContext& context = {});
// Directory structure, key modules, API surface, dependencies, contradictions.
std::string repo_analysis_markdown(const CodeFacts& facts);
// Overview with diagrams, the parts, the data flow, the request path.
std::string architecture_markdown(const CodeFacts& facts);
// One screen.
std::string scan_text(const ScanReport& report, const TerminalStyle& style);

}  // namespace fathom
