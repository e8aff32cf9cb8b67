#pragma once

#include <string>
#include <string_view>

#include "scan/facts/code_facts.h"

namespace fathom {

// Parts of quick_scan.md, each added to the page: how the program is started and set, and what it
// needs. What they leave out is on pages of its own (report/scan/inventory_pages.h).
void add_entry_points(const CodeFacts& facts, std::string& out);
void add_build_switches(const CodeFacts& facts, std::string& out);
// Which kernels a function of the API gets to.
void add_api_matrix(const CodeFacts& facts, std::string& out);
// Host functions that choose between kernels, with what each choice depends on.
void add_dispatch(const CodeFacts& facts, std::string& out);
// How much of the repository is the product, and how much tests, examples or copies.
std::string purposes_text(const CodeFacts& facts);
void add_options(const CodeFacts& facts, std::string& out);
void add_dependencies(const CodeFacts& facts, std::string& out);

// "All of them: [options.md](options.md)."; the page may have an anchor.
void add_link(std::string_view sentence, std::string_view page, std::string& out);
// With an ellipsis where it is longer.
std::string shortened(std::string_view text, size_t width);

}  // namespace fathom
