#if defined(USE_BOUNDS)
#define MAYBE_BOUNDS(n) __launch_bounds__(n)
#else
#define MAYBE_BOUNDS(n)
#endif

__global__ void __launch_bounds__(128, 2) after(float* x) { x[0] = 1; }
__global__ __launch_bounds__(256) void before(float* x) { x[0] = 2; }
__launch_bounds__(64) __global__ void ahead(float* x) { x[0] = 3; }
extern "C" __global__ void __cluster_dims__(2, 1, 1) __maxnreg__(64)
    clustered(float* x) {
  x[0] = 4;
}
__global__ void MAYBE_BOUNDS(32) sometimes(float* x) { x[0] = 5; }
// The attribute of a device function makes no kernel.
__device__ __noinline__ void helper(float* x) { x[0] = 6; }

void run(float* x) {
  after<<<1, 128>>>(x);
  before<<<1, 256>>>(x);
  ahead<<<1, 64>>>(x);
  clustered<<<2, 64>>>(x);
  sometimes<<<1, 32>>>(x);
}
