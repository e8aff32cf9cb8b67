__global__ void compiled_by_cpp(float* x) { x[threadIdx.x] = 1; }
