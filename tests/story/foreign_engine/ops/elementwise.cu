#include <cuda_fp16.h>
#include "../include/launch_config.hpp"

namespace acme { namespace f32 {

__global__ void ScaleKernel(float* __restrict__ y, const float* __restrict__ x, float alpha, int64_t numel)
{
    int64_t idx = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= numel)
        return;
    y[idx] = alpha * x[idx];
}

void Scale(float* y, const float* x, float alpha, int64_t numel, cudaStream_t s)
{
    ScaleKernel<<<CeilDiv(numel, DEFAULT_BLOCK), DEFAULT_BLOCK, 0, s>>>(y, x, alpha, numel);
}

}}  // acme::f32

namespace acme { namespace f16 {

// Same name, two elements a thread.
__global__ void ScaleKernel(__half2* __restrict__ y, const __half2* __restrict__ x, float alpha, int64_t pairs)
{
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += (int64_t)gridDim.x * blockDim.x)
    {
        y[i] = __hmul2(x[i], __float2half2_rn(alpha));
    }
}

void Scale(__half* y, const __half* x, float alpha, int64_t numel, cudaStream_t s)
{
    ScaleKernel<<<1056, 256, 0, s>>>(reinterpret_cast<__half2*>(y), reinterpret_cast<const __half2*>(x), alpha, numel / 2);
}

}}  // acme::f16

namespace acme {

template <typename T, int VEC>
__global__ void BiasActKernel(T* out, const T* in, const T* bias, int rows, int cols)
{
    const int row = blockIdx.y;
    const int col = (blockIdx.x * blockDim.x + threadIdx.x) * VEC;
    if (row >= rows || col >= cols) return;
#pragma unroll
    for (int v = 0; v < VEC; ++v)
    {
        T value = in[(size_t)row * cols + col + v] + bias[col + v];
        out[(size_t)row * cols + col + v] = value > T(0) ? value : T(0);
    }
}

template <typename T>
void BiasAct(T* out, const T* in, const T* bias, int rows, int cols, cudaStream_t s)
{
    constexpr int VEC = 4;
    dim3 grid(CeilDiv(cols, 128 * VEC), rows);
    BiasActKernel<T, VEC><<<grid, 128, 0, s>>>(out, in, bias, rows, cols);
}
template void BiasAct<float>(float*, const float*, const float*, int, int, cudaStream_t);

__global__ void Stencil5(const float* __restrict__ src, float* __restrict__ dst, int nx, int ny)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
    dst[y * nx + x] = 0.2f * (src[y * nx + x] + src[y * nx + x - 1] + src[y * nx + x + 1] + src[(y - 1) * nx + x] + src[(y + 1) * nx + x]);
}

void Stencil(const float* src, float* dst, int nx, int ny, cudaStream_t s)
{
    Stencil5<<<dim3(CeilDiv(nx, 32), CeilDiv(ny, 8)), dim3(32, 8), 0, s>>>(src, dst, nx, ny);
}

}  // namespace acme
