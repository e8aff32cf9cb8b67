// Kernels with C names are looked up in a module by the program that loads it.
#define AFFINE(TYPE, NAME) \
  extern "C" __global__ void NAME(TYPE* x, TYPE by) { x[threadIdx.x] *= by; }

AFFINE(float, affine_f32)
AFFINE(double, affine_f64)

extern "C" {
__global__ void fill_f32(float* x) { x[threadIdx.x] = 1; }
}
__global__ void nobody(float* x) { x[threadIdx.x] = 0; }
