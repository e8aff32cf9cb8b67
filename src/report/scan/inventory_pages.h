#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/report_page.h"
#include "scan/facts/code_facts.h"

namespace fathom {

// The full lists that quick_scan.md shows the first of. None where there is nothing to list.

// entry_points.md
std::vector<ReportPage> entry_point_pages(const CodeFacts& facts);
// options.md; of many options a page of options/ for each folder.
std::vector<ReportPage> option_pages(const CodeFacts& facts);
// dependencies.md
std::vector<ReportPage> dependency_pages(const CodeFacts& facts);

// "3 files, first `a.py:4`", as markdown; empty where nothing uses the dependency.
std::string uses_cell(const CodeFacts& facts, const DependencyFacts& dependency);

// "C++ program": as people call it.
std::string entry_kind_title(EntryKind kind);

}  // namespace fathom
