#include "../include/launch_config.hpp"

namespace acme {

// Reads rows, writes columns.
__global__ void TransposeNaive(float* out, const float* in, int n)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c < n && r < n) out[(size_t)c * n + r] = in[(size_t)r * n + c];
}

template <int TILE, int ROWS>
__global__ void TransposeTiled(float* out, const float* in, int n)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) out[(size_t)(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

void Transpose(float* out, const float* in, int n, bool tiled, cudaStream_t s)
{
    dim3 grid(n / 32, n / 32);
    if (tiled)
        TransposeTiled<32, 8><<<grid, dim3(32, 8), 0, s>>>(out, in, n);
    else
        TransposeNaive<<<grid, dim3(32, 32), 0, s>>>(out, in, n);
}

__global__ void GatherRows(float4* dst, const float4* table, const int* ids, int dim4)
{
    const float4* from = table + (size_t)ids[blockIdx.x] * dim4;
    for (int i = threadIdx.x; i < dim4; i += blockDim.x) dst[(size_t)blockIdx.x * dim4 + i] = from[i];
}

void Gather(float* dst, const float* table, const int* ids, int num_ids, int dim, cudaStream_t s)
{
    GatherRows<<<num_ids, 128, 0, s>>>((float4*)dst, (const float4*)table, ids, dim / 4);
}

}  // namespace acme
