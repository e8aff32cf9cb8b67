#pragma once

#include <filesystem>

#include "report/page/documents_page.h"
#include "scan/facts/code_facts.h"

namespace fathom {

// The kernels of a repository for its page, the foremost first, with the source of each: the first
// 80 lines, 2 MB of all. What the page does not hold is counted.
void add_page_kernels(const CodeFacts& facts, const std::filesystem::path& root,
                      DocumentsPage& page);

}  // namespace fathom
