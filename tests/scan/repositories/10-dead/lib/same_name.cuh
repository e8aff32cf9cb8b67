// The other file has a kernel of this name for itself.
__global__ void shared_name(float* x) { x[0] = 2; }
