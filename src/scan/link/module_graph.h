#pragma once

#include "scan/index/python_names.h"
#include "scan/link/readings.h"

namespace fathom {

// Which of the repository's own files, folders and parts import which, and which files matter most:
// by what the imports, the calls and the kernels' paths say, not by size. `kernels` have their
// paths.
ModuleGraph link_modules(const Readings& readings, const PythonNames& names,
                         const IncludeGraph& includes, const std::vector<KernelFacts>& kernels);

}  // namespace fathom
