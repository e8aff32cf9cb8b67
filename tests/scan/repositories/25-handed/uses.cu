#include "picks.cuh"

__global__ void everywhere_kernel(float* p) { p[threadIdx.x] = 3; }
__global__ void assigned_kernel(float* p) { p[threadIdx.x] = 4; }
__global__ void counted_kernel(float* p) { p[threadIdx.x] = 5; }
__global__ void macro_kernel(float* p) { p[threadIdx.x] = 6; }
__global__ void add(float* p, float* q, int n) { p[threadIdx.x] = q[n]; }
__global__ void add(float* p, int n) { p[threadIdx.x] = n; }

void run_picked(float* p, int n) {
  Chosen kernel = pick(n);
  kernel<<<1, 64>>>(p);
}

void run_everywhere(float* p) { launch_on_all(8, everywhere_kernel, p); }

void run_assigned(float* p, bool wide) {
  Chosen kernel;
  if (wide) {
    kernel = assigned_kernel;
  }
  launch_on_all(8, kernel, p);
}

int run_counted() { return count_blocks(8, counted_kernel); }

void run_macro(float* p) {
#define RUN_IT                     \
  do {                             \
    macro_kernel<<<1, 128>>>(p);   \
  } while (0)
  RUN_IT;
#undef RUN_IT
}

// The number of arguments tells which of two is meant.
void run_add(float* p, float* q) { add<<<1, 32>>>(p, q, 1); }
