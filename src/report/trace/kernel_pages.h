#pragma once

#include <vector>

#include "report/kernel_hardware.h"
#include "report/trace/analysis_files.h"
#include "sheets/kernel_contexts.h"

namespace fathom {

// kernels/NN_NAME.md for each of the longest kernels with counters, with drawings beside it: the
// measured point on the roofline, and why warps waited. At most kMostKernelPages pages.
// `code_parts`: what the code makes expect of each, the end of its page; empty: no code is known.
std::vector<ReportFile> kernel_pages(const std::vector<KernelContext>& kernels,
                                     const std::vector<std::string>& code_parts = {});

}  // namespace fathom
