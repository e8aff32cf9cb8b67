#pragma once

#include <optional>
#include <vector>

#include "scan/link/python_types.h"

namespace fathom {

// What a decorated function is: a Triton or a CuTe (cuTile) kernel or device function; none:
// neither.
std::optional<cpp::PatternScope> python_kernel_scope(const python::Function& function,
                                                     const python::PythonFile& file);

// Kernels written in Python: Triton, CuTe DSL, cuTile. `triton.jit` marks device functions as well:
// a kernel is one that is launched, or that stores something and no other one calls.
std::vector<KernelFacts> triton_kernels(const Readings& readings, const PythonNames& names,
                                        const PythonTypes& types);

}  // namespace fathom
