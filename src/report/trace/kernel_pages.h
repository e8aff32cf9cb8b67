#pragma once

#include <vector>

#include "report/trace/analysis_files.h"
#include "sheets/kernel_contexts.h"

namespace fathom {

// kernels/NN_NAME.md for each of the longest kernels with counters, with drawings beside it: the
// measured point on the roofline, and why warps waited. At most kMostKernelPages pages.
std::vector<ReportFile> kernel_pages(const std::vector<KernelContext>& kernels);

// Empty where FLOPs, bytes or the GPU's rates are not known.
std::string roofline_svg(const KernelContext& kernel);
// Empty where no stalls were counted.
std::string stalls_svg(const KernelContext& kernel);

}  // namespace fathom
