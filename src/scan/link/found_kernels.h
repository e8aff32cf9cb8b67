#pragma once

#include <vector>

#include "scan/index/kernel_graph.h"
#include "scan/link/readings.h"

namespace fathom {

// Kernels that are known by their place: OpenCL, Metal, WGSL, GLSL, HLSL, SYCL, and CUDA in strings
// of C++ files. Who launches one is known where it is written.
void add_found_kernels(const Readings& readings, KernelGraph& graph);

// What the kernels of each C++ file are written in: CUDA, HIP or MUSA.
class KernelLanguages {
 public:
  explicit KernelLanguages(const Readings& readings);
  KernelKind of(uint32_t file) const { return of_file_[file]; }

 private:
  std::vector<KernelKind> of_file_;
};

}  // namespace fathom
