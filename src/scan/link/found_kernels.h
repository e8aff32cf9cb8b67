#pragma once

#include <vector>

#include "scan/link/readings.h"

namespace fathom {

// Kernels that are known by their place: OpenCL, Metal, WGSL, GLSL, HLSL, SYCL, and CUDA in strings
// of C++ files. Who launches one is known where it is written, or by its name in a string.
std::vector<KernelFacts> found_kernels(const Readings& readings);

// The innermost function of a file around a line, of Python or C++; empty: none.
std::string function_at_line(const FileReading& reading, uint32_t line);

// A place that names a kernel in a string, as what looks it up does: never more than possible.
KernelLauncher named_launcher(const FileReading& reading, uint32_t file, uint32_t line);

// What the kernels of each C++ file are written in: CUDA, HIP or MUSA.
class KernelLanguages {
 public:
  explicit KernelLanguages(const Readings& readings);
  KernelKind of(uint32_t file) const { return of_file_[file]; }

 private:
  std::vector<KernelKind> of_file_;
};

}  // namespace fathom
