#include "../include/launch_config.hpp"

namespace acme {
namespace detail {

template <int THREADS>
__device__ float BlockSum(float v)
{
    __shared__ float warp_sums[THREADS / 32];
    for (int o = 16; o; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
    if ((threadIdx.x & 31) == 0) warp_sums[threadIdx.x >> 5] = v;
    __syncthreads();
    v = threadIdx.x < THREADS / 32 ? warp_sums[threadIdx.x] : 0.f;
    if (threadIdx.x < 32)
        for (int o = 16; o; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
    __syncthreads();
    if (threadIdx.x == 0) warp_sums[0] = v;
    __syncthreads();
    return warp_sums[0];
}

}  // namespace detail

template <int THREADS>
__global__ void __launch_bounds__(THREADS) LayerNormKernel(float* out, const float* in, const float* gamma, const float* beta, int hidden, float eps)
{
    const float* row = in + (size_t)blockIdx.x * hidden;
    float sum = 0.f, sq = 0.f;
    for (int i = threadIdx.x; i < hidden; i += THREADS) { float v = row[i]; sum += v; sq += v * v; }
    float mean = detail::BlockSum<THREADS>(sum) / hidden;
    float var = detail::BlockSum<THREADS>(sq) / hidden - mean * mean;
    float rstd = rsqrtf(var + eps);
    for (int i = threadIdx.x; i < hidden; i += THREADS)
        out[(size_t)blockIdx.x * hidden + i] = (row[i] - mean) * rstd * gamma[i] + beta[i];
}

void LayerNorm(float* out, const float* in, const float* gamma, const float* beta, int tokens, int hidden, cudaStream_t s)
{
    if (hidden >= 2048)
        LayerNormKernel<512><<<tokens, 512, 0, s>>>(out, in, gamma, beta, hidden, 1e-5f);
    else
        LayerNormKernel<128><<<tokens, 128, 0, s>>>(out, in, gamma, beta, hidden, 1e-5f);
}

__global__ void SumAll(float* total, const float* in, int n)
{
    float v = 0.f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += in[i];
    v = detail::BlockSum<256>(v);
    if (threadIdx.x == 0) atomicAdd(total, v);
}

void Sum(float* total, const float* in, int n, cudaStream_t s) { SumAll<<<528, 256, 0, s>>>(total, in, n); }

template <int TILE>
__global__ void SgemmTiled(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float As[TILE][TILE], Bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float acc = 0.f;
    for (int k0 = 0; k0 < K; k0 += TILE)
    {
        As[threadIdx.y][threadIdx.x] = A[row * K + k0 + threadIdx.x];
        Bs[threadIdx.y][threadIdx.x] = B[(k0 + threadIdx.y) * N + col];
        __syncthreads();
        for (int k = 0; k < TILE; ++k) acc += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        __syncthreads();
    }
    C[row * N + col] = acc;
}

void Sgemm(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t s)
{
    SgemmTiled<32><<<dim3(N / 32, M / 32), dim3(32, 32), 0, s>>>(A, B, C, M, N, K);
}

}  // namespace acme
