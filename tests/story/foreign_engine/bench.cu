// acme_bench CASE: a few launches of one operation.
#include <cuda_fp16.h>
#include <cstdio>
#include <cstring>
#include <vector>

namespace acme {
namespace f32 { void Scale(float*, const float*, float, int64_t, cudaStream_t); }
namespace f16 { void Scale(__half*, const __half*, float, int64_t, cudaStream_t); }
template <typename T> void BiasAct(T*, const T*, const T*, int, int, cudaStream_t);
void Stencil(const float*, float*, int, int, cudaStream_t);
void Transpose(float*, const float*, int, bool, cudaStream_t);
void Gather(float*, const float*, const int*, int, int, cudaStream_t);
void LayerNorm(float*, const float*, const float*, const float*, int, int, cudaStream_t);
void Sum(float*, const float*, int, cudaStream_t);
void Sgemm(const float*, const float*, float*, int, int, int, cudaStream_t);
}

int main(int argc, char** argv)
{
    const size_t N = 64u << 20;
    float *a, *b, *c;
    int* ids;
    cudaMalloc(&a, N * 4); cudaMalloc(&b, N * 4); cudaMalloc(&c, N * 4); cudaMalloc(&ids, 1 << 20);
    cudaMemset(a, 0, N * 4); cudaMemset(b, 0, N * 4); cudaMemset(c, 0, N * 4);
    std::vector<int> host(32768);
    for (int i = 0; i < 32768; ++i) host[i] = (int)((long long)i * 7919 % 16384);
    cudaMemcpy(ids, host.data(), host.size() * 4, cudaMemcpyHostToDevice);
    auto is = [&](const char* name) { return argc < 2 || !strcmp(argv[1], name); };
    for (int run = 0; run < 3; ++run)
    {
        if (is("scale32")) acme::f32::Scale(b, a, 2.f, 64 << 20, 0);
        if (is("scale16")) acme::f16::Scale((__half*)b, (__half*)a, 2.f, 64 << 20, 0);
        if (is("bias")) acme::BiasAct<float>(b, a, c, 8192, 8192, 0);
        if (is("bias_small")) acme::BiasAct<float>(b, a, c, 256, 1024, 0);
        if (is("stencil")) acme::Stencil(a, b, 8192, 8192, 0);
        if (is("transpose")) acme::Transpose(b, a, 8192, false, 0);
        if (is("transpose_tiled")) acme::Transpose(b, a, 8192, true, 0);
        if (is("gather")) acme::Gather(b, a, ids, 32768, 1024, 0);
        if (is("norm")) acme::LayerNorm(b, a, c, c + 8192, 8192, 8192, 0);
        if (is("norm_small")) acme::LayerNorm(b, a, c, c + 8192, 4096, 768, 0);
        if (is("sum")) acme::Sum(c, a, 64 << 20, 0);
        if (is("gemm")) acme::Sgemm(a, b, c, 2048, 2048, 2048, 0);
    }
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
