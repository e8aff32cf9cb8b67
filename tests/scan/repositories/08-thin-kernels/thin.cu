#include "device.cuh"

__global__ void thin(float4* out, const float4* in, const int* rows, float* sum) {
  copy_row<16>(out, in, rows);
  sum[0] = warp_sum(sum[threadIdx.x]);
}

void run(float4* out, const float4* in, const int* rows, float* sum) {
  thin<<<8, 32>>>(out, in, rows, sum);
}
