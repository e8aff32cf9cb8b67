#define ELSEWHERE_GLOBAL __device__ inline
