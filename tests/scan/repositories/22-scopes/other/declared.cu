__global__ void made_twice(float* p) { p[threadIdx.x] = 7; }
// A near-twin: nobody outside of this file means it, though they say its name.
static __global__ void made_elsewhere(float* p) { p[threadIdx.x] = 8; }
