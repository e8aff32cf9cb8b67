#pragma once

#include <string>
#include <vector>

#include "report/scan/expected_table.h"
#include "report/scan/kernel_pages.h"

namespace fathom {

// The tables of the kernel report, each added to a page. Links and anchors are of every kernel, by
// its position in CodeFacts::kernels.

// How many of each kind, and what they do.
void add_kernel_kinds(const CodeFacts& facts, std::string& out);
void add_kernel_things(const CodeFacts& facts, std::string& out);
// One row for each; the anchors are of the page that the table stands on.
void add_kernel_table(const CodeFacts& facts, const std::vector<uint32_t>& kernels,
                      const std::vector<std::string>& anchors, std::string& out);
// One row for each page of kernels/, and for the first ones of foremost_kernels().
void add_kernel_folders(const CodeFacts& facts, const std::vector<KernelGroup>& groups,
                        std::string& out);
void add_foremost_kernels(const CodeFacts& facts, const std::vector<std::string>& links,
                          std::string& out);
// Nothing unless a workload and a GPU were named.
void add_expected_table(const CodeFacts& facts, const Stories& stories,
                        const std::vector<ExpectedRow>& rows, const std::vector<std::string>& links,
                        std::string& out);
void add_dead_kernels(const CodeFacts& facts, size_t at_most, std::string& out);
void add_profiling_checklist(std::string& out);

}  // namespace fathom
