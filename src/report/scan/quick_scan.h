#pragma once

#include <string>
#include <string_view>

#include "scan/facts/code_facts.h"

namespace fathom {

// Parts of quick_scan.md, each added to the page: how the program is started and set, and what it
// needs. What they leave out is on pages of its own (report/scan/inventory_pages.h).
void add_entry_points(const CodeFacts& facts, std::string& out);
void add_options(const CodeFacts& facts, std::string& out);
void add_dependencies(const CodeFacts& facts, std::string& out);

// "All of them: [options.md](options.md)."; the page may have an anchor.
void add_link(std::string_view sentence, std::string_view page, std::string& out);
// With an ellipsis where it is longer.
std::string shortened(std::string_view text, size_t width);

}  // namespace fathom
