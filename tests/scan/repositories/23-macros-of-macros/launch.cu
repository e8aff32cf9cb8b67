#include "lists.h"

#define RUN(T, N, PASS)                                                                   \
  void run_##PASS##_##N(T* p, dim3 grid, cudaStream_t stream) {                           \
    auto k = my_##PASS##_kernel<T>;                                                       \
    void* arguments[] = {&p};                                                             \
    cudaLaunchKernel((const void*)k, grid, dim3(N), arguments, 0, stream);                \
  }
#define EACH_SIZE(FUNCTION, T, PASS) FUNCTION(T, 512, PASS); FUNCTION(T, 256, PASS);

template <typename T>
__global__ void my_forward_kernel(T* p) { p[threadIdx.x] = 1; }
template <typename T>
__global__ void my_backward_kernel(T* p) { p[threadIdx.x] = 2; }
template <typename T>
__global__ void my_update_kernel(T* p) { p[threadIdx.x] = 3; }
// A near-twin: its name is pasted together in no use of the macro.
template <typename T>
__global__ void my_unused_kernel(T* p) { p[threadIdx.x] = 4; }

EACH_SIZE(RUN, float, forward)
EACH_SIZE(RUN, half, backward)

#define LAUNCH(T, PASS) my_##PASS##_kernel<T><<<1, 64>>>(static_cast<T*>(p));
void update(void* p) { EACH_TYPE(LAUNCH, update) }
