#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/report_page.h"
#include "report/scan/kernel_story.h"
#include "scan/facts/code_facts.h"
#include "story/measured_run.h"

namespace fathom {

// Kernels that stand together: on a page of their own, or in a file where all are on one page.
struct KernelGroup {
  std::string title;              // "csrc/kda/", "csrc/copy.cu"
  std::string link;               // from the report's directory
  std::vector<uint32_t> kernels;  // positions in CodeFacts::kernels
};

// The kernel report. kernels.md holds everything of a few kernels; of many it has the totals, the
// folders and those that matter most, and each kernel is in full on a page of kernels/.
struct KernelPages {
  std::vector<ReportPage> pages;   // kernels.md first
  std::vector<std::string> links;  // of each kernel, from the report's directory
  std::vector<KernelGroup> groups;
};
inline constexpr size_t kKernelsOnOnePage = 24;
KernelPages kernel_pages(const CodeFacts& facts, const Stories& stories,
                         const std::vector<MeasuredRun>& measured = {});

// A kernel in full: code position, launches, path, what it does, its story, what was measured of it
// (markdown; may be empty). `root` leads from the page to the report's directory: "" or "../".
std::string kernel_section(const CodeFacts& facts, const KernelFacts& kernel,
                           const KernelStory& told, const Stories& stories, std::string_view root,
                           std::string_view measured = {});
std::string host_section(const CodeFacts& facts, const HostFacts& host, const HostStory& told);

// What a kernel's code does, each thing once, in the order of the code.
std::vector<std::string> things_done(const std::vector<CodeEvidence>& evidence);

// The kernels that most of the program leads to, the first one first: by the ways of requests that
// end there; then the product's own before tests and what else is_aside(), by the functions that
// call them, the places that launch them, and their lines.
std::vector<uint32_t> foremost_kernels(const CodeFacts& facts, size_t at_most);

}  // namespace fathom
