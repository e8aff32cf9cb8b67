__global__ void scale_kernel(float* p) { p[threadIdx.x] *= 2; }
__global__ void shift_kernel(float* p) { p[threadIdx.x] += 1; }
__global__ void hidden_kernel(float* p) { p[threadIdx.x] = 0; }

extern "C" {
void scale(float* p) { scale_kernel<<<1, 32>>>(p); }

void shift(float* p) { shift_kernel<<<1, 64>>>(p); }
}

// A near-twin: its name is not C's, so that no dynamic library has it under this name.
void hide(float* p) { hidden_kernel<<<1, 96>>>(p); }
