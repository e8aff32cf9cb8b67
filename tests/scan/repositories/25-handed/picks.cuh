#pragma once
using Chosen = void (*)(float*);

template <int N>
__global__ void picked_kernel(float* p) { p[threadIdx.x] = N; }
// A near-twin: a function that returns nothing of the kind.
template <int N>
__global__ void unpicked_kernel(float* p) { p[threadIdx.x] = -N; }

inline Chosen pick(int n) {
  if (n > 1) return picked_kernel<2>;
  return &picked_kernel<1>;
}

inline Chosen pick_nothing(int n) { return nullptr; }

// A launcher, and a function that hands its kernel to it.
template <typename Kernel>
void launch(Kernel kernel, dim3 grid, dim3 block, float* p) { kernel<<<grid, block>>>(p); }

template <typename Kernel>
void launch_on_all(int devices, Kernel kernel, float* p) {
  for (int i = 0; i < devices; ++i) launch(kernel, dim3(1), dim3(32), p);
}

// A near-twin: it only counts what it is given.
template <typename Kernel>
int count_blocks(int devices, Kernel kernel) { return devices; }
