static __global__ void kernel(float* p) { p[threadIdx.x] = 2; }

void run_second(float* p) { kernel<<<1, 64>>>(p); }
