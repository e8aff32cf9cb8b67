__global__ void only_built(float* x) { x[threadIdx.x] = 2; }
__global__ void says_its_file(float* x) { x[threadIdx.x] = 3; }
const char* where() { return "listed.cu"; }
