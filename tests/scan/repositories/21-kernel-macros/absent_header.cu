// The header of CUTLASS is a submodule that is not there.
#include <cutlass/cutlass.h>
#include "company_macros.h"

template <int N>
CUTLASS_GLOBAL __launch_bounds__(N, 1) void
known_macro(float* x) { x[threadIdx.x] = 1.f; }

// Launch bounds belong to kernels alone, whatever the macro is called.
COMPANY_ENTRY __launch_bounds__(128) void
bounded(float* x) {
  x[blockIdx.x] = 2.f;
}

COMPANY_ENTRY void __launch_bounds__(64) bounds_after_void(float* x) { x[0] = 3.f; }

// Called like a kernel, and it reads its thread's index.
COMPANY_KERNEL void named_like_one(float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = 4.f;
}

__tile_global__ void tile_kernel(int* a) { a[0] = 1; }

// Near-twins.
COMPANY_API __launch_bounds__(128) void exported(float* x) { x[0] = 5.f; }
COMPANY_DEVICE __launch_bounds__(128) void on_device(float* x) { x[0] = 6.f; }
COMPANY_KERNEL void on_the_host(float* x, int n) {
  for (int i = 0; i < n; ++i) x[i] = 7.f;
}
ELSEWHERE_GLOBAL void device_by_another_file(float* x) { x[threadIdx.x] = 8.f; }
LOCAL_GLOBAL __launch_bounds__(32) void inline_by_this_file(float* x);
#define LOCAL_GLOBAL static inline
LOCAL_GLOBAL void inline_too(float* x) { x[threadIdx.x] = 9.f; }
int COMPANY_KERNEL_count() { return 3; }

void launch(float* x) {
  known_macro<32><<<1, 32>>>(x);
  bounded<<<1, 128>>>(x);
  bounds_after_void<<<1, 64>>>(x);
  named_like_one<<<4, 64>>>(x);
  tile_kernel<<<4, 1>>>(nullptr);
}
