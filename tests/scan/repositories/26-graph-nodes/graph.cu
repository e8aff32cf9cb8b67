// A node of a graph launches the kernel that its parameters name.
#include <cuda_runtime.h>

__global__ void scale(float* x, float by) { x[threadIdx.x] *= by; }
__global__ void shift(float* x, float by) { x[threadIdx.x] += by; }
__global__ void square(float* x) { x[threadIdx.x] *= x[threadIdx.x]; }
__global__ void named_only(float* x) { x[threadIdx.x] = 0; }

struct NodeParams {
  void* func;
};
void keep(const NodeParams& params);

void record(cudaGraph_t graph, float* x, float by, int n, bool up) {
  {
    cudaKernelNodeParams params = {0};
    if (up) {
      params.func = reinterpret_cast<void*>(shift);
    } else {
      params.func = (void*)scale;
    }
    params.gridDim = dim3(n / 128);
    params.blockDim = dim3(128, 1, 1);
    params.sharedMemBytes = 0;
    void* arguments[] = {&x, &by};
    params.kernelParams = arguments;
    cudaGraphNode_t node;
    cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params);
  }
  cudaKernelNodeParams second{(void*)square, dim3(n), dim3(64), 512, nullptr, nullptr};
  cudaGraphNode_t node;
  cudaGraphAddKernelNode(&node, graph, nullptr, 0, &second);
  // Another type with a field of that name launches nothing.
  NodeParams other;
  other.func = (void*)named_only;
  keep(other);
}
