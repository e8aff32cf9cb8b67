#include <cuda.h>
const char* src = R"(
extern "C" __global__ void saxpy(float a, float* x, float* y, size_t n) {
  size_t t = blockIdx.x * blockDim.x + threadIdx.x; if (t < n) y[t] = a * x[t] + y[t]; 
})";
const char* cl = R"(
__kernel void axpb(__global float* x) {
  x[get_global_id(0)] += 1;
}
__kernel void other(__global float* x) {
  x[get_global_id(0)] += 2;
}
)";
struct Engine { CUfunction f_; void init(); void go(); };
void Engine::init() { cuModuleGetFunction(&f_, module, "saxpy"); }
void Engine::go() { cuLaunchKernel(f_, 64, 1, 1, 256, 1, 1, 0, NULL, args, 0); }
int main() {
  nvrtcProgram prog; nvrtcCreateProgram(&prog, src, "saxpy.cu", 0, NULL, NULL);
  CUmodule module; CUfunction kernel;
  cuModuleLoadDataEx(&module, ptx, 0, 0, 0);
  cuModuleGetFunction(&kernel, module, "saxpy");
  cuLaunchKernel(kernel, 32, 1, 1, 128, 1, 1, 0, NULL, args, 0);
  cl_kernel k = clCreateKernel(program, "axpb", &err);
  clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, &local, 0, NULL, NULL);
}
// Two variables of one name, each in its function; a near-twin that asks for something else.
void add_all() {
  CUfunction f = nullptr;
  cuModuleGetFunction(&f, module, "add_all");
  cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, args, 0);
}
void scale_all() {
  CUfunction f;
  cuLibraryGetKernel((CUkernel*)&f, library, "scale_all");
  cuLaunchKernel(f, 2, 1, 1, 64, 1, 1, 0, NULL, args, 0);
}
void twin() {
  CUfunction f;
  setName(&f, module, "nobody");
  cuLaunchKernel(f, 3, 1, 1, 96, 1, 1, 0, NULL, args, 0);
}
