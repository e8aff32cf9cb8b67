__shared__ float tile[32][33];
__global__ void __launch_bounds__(256, 2)
    gemm(const half* __restrict__ a, float4* b, int m, int n, int k) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y,
            col = blockIdx.x * blockDim.x + threadIdx.x;
  float acc = 0.f;
  for (int t = 0; t < (k + 31) / 32; ++t) {
    tile[threadIdx.y][threadIdx.x] = __half2float(a[row * k + t * 32 + threadIdx.x]);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 32; ++i) acc += tile[threadIdx.y][i] * a[(t * 32 + i) * n + col];
    __syncthreads();
  }
  if (row < m && col < n) b[row * n + col] = reinterpret_cast<float4*>(a)[row % 4 ? col : row];
  while (k > 0) {
    k >>= 1;
    acc += __shfl_xor_sync(0xffffffff, acc, k);
  }
  atomicAdd(&acc, 1.f);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(row), "l"(a));
  do {
    switch (n) {
      case 1:
        return;
      default:
        break;
    }
  } while (false);
}
void go(const half* a, float4* b, int m, int n, int k) {
  dim3 grid((n + 31) / 32, (m + 31) / 32), block(32, 32);
  gemm<<<grid, block, 0, stream>>>(a, b, m, n, k);
}
int main(int argc, char** argv) {
  if (!strcmp(argv[1], "--size")) n = atoi(argv[2]);
  printf("usage:\n  --size N  (default 4)\n  --other\n  -h\n");
  go(0, 0, 1, 2, 3);
}
