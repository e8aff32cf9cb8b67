// Both runtimes are included; the code is written for one of them.
#pragma once
#if defined(__NVCC__)
#include <cuda_runtime.h>
#define hipMalloc cudaMalloc
#define hipFree cudaFree
#else
#include <hip/hip_runtime.h>
#endif
