#pragma once

#include <string>
#include <vector>

#include "sheets/kernel_contexts.h"

namespace fathom {

// {"kernels": counted kernels with their place in the roofline and their stalls, "sampled": kernels
// with PC samples, by reason and by line}; both the longest first. Empty: nothing was measured.
std::string page_hardware(const SheetInput& input, const std::vector<KernelContext>& kernels);

}  // namespace fathom
