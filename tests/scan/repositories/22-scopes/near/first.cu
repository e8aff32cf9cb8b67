// Three files define kernels of one name. What each launch means is told by its scope, by what it
// includes, and by who may see what.
namespace {
__global__ void kernel(float* p) { p[threadIdx.x] = 1; }
}  // namespace

void run_first(float* p) { kernel<<<1, 32>>>(p); }
