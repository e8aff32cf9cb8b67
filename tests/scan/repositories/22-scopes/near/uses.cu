#include "../far/tiles.cuh"

using namespace shop;
namespace thin = shop::narrow;

void run_wide(float* p) { wide::kernel<float><<<1, 96>>>(p); }

void run_narrow(float* p) { thin::kernel<float><<<1, 128>>>(p); }

void run_by_pointer(float* p) {
  auto chosen = &shop::wide::kernel<float>;
  void* arguments[] = {&p};
  cudaLaunchKernel((const void*)chosen, dim3(1), dim3(160), arguments, 0, nullptr);
}

namespace shop::narrow {
void run_inside(float* p) { kernel<float><<<1, 192>>>(p); }
}  // namespace shop::narrow

// A near-twin: a library's kernel of this name is none of these.
void run_library(float* p) { narrow::detail::kernel<float><<<1, 224>>>(p); }
