extern "C" __global__ void add_all(float* x) { x[threadIdx.x] += 1; }
extern "C" __global__ void scale_all(float* x) { x[threadIdx.x] *= 2; }
extern "C" __global__ void nobody(float* x) { x[threadIdx.x] = 0; }
