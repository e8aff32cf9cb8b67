#pragma once

#include <string>
#include <vector>

#include "report/screen.h"
#include "scan/code_facts.h"

namespace fathom {

// What a scan of a repository says: the screen, scan.json and the markdown files all show this.
struct ScanReport {
  CodeFacts facts;
  std::string report;  // the directory; empty: none was written
  std::vector<std::string> files;
};

// The lists of scan.json that can be asked for by name.
inline constexpr const char* kScanParts[] = {"kernels",      "options",        "entry_points",
                                             "dependencies", "host_functions", "components",
                                             "features",     "files"};

// Everything, or only the parts named. docs/scan_json.md says what the keys mean.
std::string scan_json(const CodeFacts& facts, const std::vector<std::string>& parts = {});
// The same facts of the parts for people: one line for each, file:line first.
std::string scan_lines(const CodeFacts& facts, const std::vector<std::string>& parts);

// README, entry points, configuration, key directories, languages, size.
std::string quick_scan_markdown(const CodeFacts& facts);
// The kernel inventory: a table, then a section for each kernel.
std::string kernels_markdown(const CodeFacts& facts);
// One screen.
std::string scan_text(const ScanReport& report, const TerminalStyle& style);

}  // namespace fathom
