#pragma once

#include <string>

#include "sheets/kernel_sources.h"

namespace fathom {

// kernel_sources.md: the kernels of a trace where the scanned repository defines them, with what
// the code says of each; what is not the repository's is named with its time.
std::string kernel_sources_markdown(const KernelSources& sources);

}  // namespace fathom
