#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "scan/facts/code_facts.h"

namespace fathom {

// How much of each list the page has room for: a part of it where the page would exceed five.
struct PageRoom {
  size_t divisor = 1;
  size_t rows(size_t most) const { return std::max<size_t>(1, most / divisor); }
};

// Parts of quick_scan.md, each added to the page: how the program is started and set, and what it
// needs. What they leave out is on pages of its own (report/scan/inventory_pages.h).
void add_entry_points(const CodeFacts& facts, PageRoom room, std::string& out);
void add_build_switches(const CodeFacts& facts, PageRoom room, std::string& out);
// Which kernels a function of the API gets to.
void add_api_matrix(const CodeFacts& facts, PageRoom room, std::string& out);
// Host functions that choose between kernels, with what each choice depends on.
void add_dispatch(const CodeFacts& facts, PageRoom room, std::string& out);
// How much of the repository is the product, and how much tests, examples or copies.
std::string purposes_text(const CodeFacts& facts);
void add_options(const CodeFacts& facts, PageRoom room, std::string& out);
void add_dependencies(const CodeFacts& facts, std::string& out);

// "All of them: [options.md](options.md)."; the page may have an anchor.
void add_link(std::string_view sentence, std::string_view page, std::string& out);

}  // namespace fathom
