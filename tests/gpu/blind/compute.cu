// Cases whose fault is in the instructions: pipes, instruction mix, registers.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

#include "blind.h"

namespace {

using namespace nvcuda;

__global__ void prepare_halves(__half* p, size_t n, uint32_t seed) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
       i += size_t(gridDim.x) * blockDim.x)
    p[i] = __float2half((mix(uint32_t(i) + seed) >> 8) * (2.0f / 16777216.0f) - 1.0f);
}

// ---- half-precision product: fragments straight from global memory ----
__global__ void __launch_bounds__(128)
    product_direct(const __half* a, const __half* b, float* c, int n) {
  int row = (blockIdx.y * 2 + threadIdx.x / 64) * 16,
      column = (blockIdx.x * 2 + threadIdx.x / 32 % 2) * 16;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < n; k += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
    wmma::load_matrix_sync(fa, a + size_t(row) * n + k, n);
    wmma::load_matrix_sync(fb, b + size_t(k) * n + column, n);
    wmma::mma_sync(sum, fa, fb, sum);
  }
  wmma::store_matrix_sync(c + size_t(row) * n + column, sum, n, wmma::mem_row_major);
}

// ---- the same on the FP32 pipe ----
__global__ void product_plain(const __half* a, const __half* b, float* c, int n) {
  __shared__ float sa[32][32], sb[32][32];
  int tx = threadIdx.x, ty = threadIdx.y, column = blockIdx.x * 32 + tx, row = blockIdx.y * 32;
  float sum[4] = {};
  for (int k = 0; k < n; k += 32) {
    for (int j = 0; j < 4; ++j) {
      sa[ty + 8 * j][tx] = __half2float(a[size_t(row + ty + 8 * j) * n + k + tx]);
      sb[ty + 8 * j][tx] = __half2float(b[size_t(k + ty + 8 * j) * n + column]);
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 32; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j) sum[j] += sa[ty + 8 * j][i] * sb[i][tx];
    __syncthreads();
  }
  for (int j = 0; j < 4; ++j) c[size_t(row + ty + 8 * j) * n + column] = sum[j];
}

// ---- 128 x 128 tiles, three stages of cp.async, padded rows ----
constexpr int stages = 3, pitch_a = 40, pitch_b = 136, stage_halves = 128 * pitch_a + 32 * pitch_b;
__global__ void __launch_bounds__(256, 2)
    product_staged(const __half* a, const __half* b, float* c, int n) {
  extern __shared__ __align__(128) __half buffer[];
  int warp = threadIdx.x / 32, warp_row = warp / 4 * 64, warp_column = warp % 4 * 32;
  const __half *from_a = a + size_t(blockIdx.y) * 128 * n, *from_b = b + blockIdx.x * 128;
  auto load = [&](int t) {
    if (t * 32 < n) {
      __half *sa = buffer + t % stages * stage_halves, *sb = sa + 128 * pitch_a;
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        int i = threadIdx.x + j * 256;
        __pipeline_memcpy_async(sa + i / 4 * pitch_a + i % 4 * 8,
                                from_a + size_t(i / 4) * n + t * 32 + i % 4 * 8, 16);
        __pipeline_memcpy_async(sb + i / 16 * pitch_b + i % 16 * 8,
                                from_b + size_t(t * 32 + i / 16) * n + i % 16 * 8, 16);
      }
    }
    __pipeline_commit();
  };
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[4][2];
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 2; ++j) wmma::fill_fragment(sum[i][j], 0.0f);
  for (int t = 0; t < stages - 1; ++t) load(t);
  for (int t = 0; t * 32 < n; ++t) {
    __pipeline_wait_prior(stages - 2);
    __syncthreads();
    load(t + stages - 1);
    const __half *sa = buffer + t % stages * stage_halves, *sb = sa + 128 * pitch_a;
#pragma unroll
    for (int k = 0; k < 32; k += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa[4];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb[2];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        wmma::load_matrix_sync(fa[i], sa + (warp_row + 16 * i) * pitch_a + k, pitch_a);
#pragma unroll
      for (int j = 0; j < 2; ++j)
        wmma::load_matrix_sync(fb[j], sb + k * pitch_b + warp_column + 16 * j, pitch_b);
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j) wmma::mma_sync(sum[i][j], fa[i], fb[j], sum[i][j]);
    }
  }
  float* to = c + (size_t(blockIdx.y) * 128 + warp_row) * n + blockIdx.x * 128 + warp_column;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 2; ++j)
      wmma::store_matrix_sync(to + size_t(16 * i) * n + 16 * j, sum[i][j], n, wmma::mem_row_major);
}

struct Product : Case {
  int n;
  __half *a, *b;
  explicit Product(int size) : n(size) {
    a = device<__half>(size_t(n) * n);
    b = device<__half>(size_t(n) * n);
    prepare_halves<<<132 * 8, 256>>>(a, size_t(n) * n, 20);
    prepare_halves<<<132 * 8, 256>>>(b, size_t(n) * n, 21);
    result(size_t(n) * n);
    tolerance = 1e-3f;
    CHECK(cudaFuncSetAttribute(product_staged, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               stages * stage_halves * 2));
  }
  void staged() {
    product_staged<<<dim3(n / 128, n / 128), 256, stages * stage_halves * 2>>>(a, b, out, n);
  }
};
struct ProductDirect : Product {
  ProductDirect() : Product(2048) {}
  void run(bool fixed) override {
    if (fixed)
      staged();
    else
      product_direct<<<dim3(n / 32, n / 32), 128>>>(a, b, out, n);
  }
};
struct ProductPlain : Product {
  ProductPlain() : Product(2048) {}
  void run(bool fixed) override {
    if (fixed)
      staged();
    else
      product_plain<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(a, b, out, n);
  }
};
struct CleanProduct : Product {
  CleanProduct() : Product(4096) {}
  void run(bool) override { staged(); }
};

// ---- nearest of four signatures: bits counted one by one, or with popc ----
struct Signatures {
  uint32_t word[4];
};
__global__ void nearest_bits(const uint32_t* codes, float* out, Signatures s, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    uint32_t code = codes[i];
    int best = 33;
    for (int q = 0; q < 4; ++q) {
      uint32_t x = code ^ s.word[q];
      int bits = 0;
      for (int b = 0; b < 32; ++b) {
        if (x & 1) ++bits;
        x >>= 1;
      }
      best = min(best, bits);
    }
    out[i] = best;
  }
}
__global__ void nearest_popc(const uint32_t* codes, float* out, Signatures s, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    uint32_t code = codes[i];
    int best = 33;
    for (int q = 0; q < 4; ++q) best = min(best, __popc(code ^ s.word[q]));
    out[i] = best;
  }
}
struct NearestCode : Case {
  static constexpr int n = 32 << 20;
  uint32_t* codes = reinterpret_cast<uint32_t*>(values(n, 22));
  Signatures s{{0x12345678u, 0x9abcdef0u, 0x0f0f3c3cu, 0xa5a5f00fu}};
  NearestCode() { result(n); }
  void run(bool fixed) override {
    if (fixed)
      nearest_popc<<<132 * 16, 256>>>(codes, out, s, n);
    else
      nearest_bits<<<132 * 16, 256>>>(codes, out, s, n);
  }
};

// ---- [N, C, H, W] to [C, N, H, W]: 64-bit division and modulo for each element, or one grid
// dimension per axis ----
__global__ void permute_flat(const float* in, float* out, long long N, long long C, long long H,
                             long long W) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= N * C * H * W) return;
  long long w = i % W, h = i / W % H, n = i / (W * H) % N, c = i / (W * H * N);
  out[i] = in[((n * C + c) * H + h) * W + w];
}
__global__ void permute_grid(const float* in, float* out, int N, int C, int area) {
  int n = blockIdx.y, c = blockIdx.z, i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < area) out[(c * N + n) * area + i] = in[(n * C + c) * area + i];
}
struct PermuteAxes : Case {
  static constexpr int N = 16, C = 128, H = 126, W = 130;
  static constexpr size_t total = size_t(N) * C * H * W;
  float* in = values(total, 23);
  PermuteAxes() { result(total); }
  void run(bool fixed) override {
    if (fixed)
      permute_grid<<<dim3(blocks_for(H * W, 256), N, C), 256>>>(in, out, N, C, H * W);
    else
      permute_flat<<<blocks_for(total, 256), 256>>>(in, out, N, C, H, W);
  }
};

// ---- GELU with double literals ----
__global__ void gelu_literals(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
  out[i] = 0.5 * x * (1.0 + tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
}
__global__ void gelu_float(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
  out[i] = 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}
struct Gelu : Case {
  static constexpr int n = 32 << 20;
  float* in = values(n, 24);
  Gelu() { result(n); }
  void run(bool fixed) override {
    if (fixed)
      gelu_float<<<n / 256, 256>>>(in, out, n);
    else
      gelu_literals<<<n / 256, 256>>>(in, out, n);
  }
};

// ---- damped wave sum over 64 sources: exp and cos in the inner loop, or the addition theorems and
// a table ----
constexpr int sources = 64;
__global__ void waves_direct(const float* x, const float* phase, float* out, int n) {
  __shared__ float p[sources];
  if (threadIdx.x < sources) p[threadIdx.x] = phase[threadIdx.x];
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float t = x[i], sum = 0;
#pragma unroll 8
    for (int s = 0; s < sources; ++s) {
      float d = t - p[s];
      sum += __expf(-d) * __cosf(d);
    }
    out[i] = sum;
  }
}
__global__ void waves_table(const float* x, const float* phase, float* out, int n) {
  __shared__ float2 p[sources];
  if (threadIdx.x < sources) {
    float s = phase[threadIdx.x], grow = expf(s);
    p[threadIdx.x] = {grow * __cosf(s), grow * __sinf(s)};
  }
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float t = x[i], c = __cosf(t), s = __sinf(t), sum = 0;
#pragma unroll 8
    for (int k = 0; k < sources; ++k) sum += c * p[k].x + s * p[k].y;
    out[i] = __expf(-t) * sum;
  }
}
struct Waves : Case {
  static constexpr int n = 8 << 20;
  float *x = values(n, 25), *phase = values(sources, 26);
  Waves() {
    result(n);
    tolerance = 1e-3f;
  }
  void run(bool fixed) override {
    if (fixed)
      waves_table<<<132 * 8, 256>>>(x, phase, out, n);
    else
      waves_direct<<<132 * 8, 256>>>(x, phase, out, n);
  }
};

// ---- SGEMM of the transposed A with 8 x 8 values per thread; the launch bounds ask for four
// blocks, so 64 registers ----
template <int BLOCKS>
__global__ void __launch_bounds__(256, BLOCKS)
    sgemm_tile(const float* a, const float* b, float* c, int n) {
  __shared__ float4 sa[8][32], sb[8][32];
  int tx = threadIdx.x % 16, ty = threadIdx.x / 16, lane = threadIdx.x % 32,
      line = threadIdx.x / 32;
  float sum[8][8] = {};
  for (int k = 0; k < n; k += 8) {
    sa[line][lane] =
        *reinterpret_cast<const float4*>(a + size_t(k + line) * n + blockIdx.y * 128 + lane * 4);
    sb[line][lane] =
        *reinterpret_cast<const float4*>(b + size_t(k + line) * n + blockIdx.x * 128 + lane * 4);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      float4 a0 = sa[i][ty], a1 = sa[i][16 + ty], b0 = sb[i][tx], b1 = sb[i][16 + tx];
      float va[8] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w};
      float vb[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
      for (int r = 0; r < 8; ++r)
#pragma unroll
        for (int s = 0; s < 8; ++s) sum[r][s] += va[r] * vb[s];
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    size_t row = blockIdx.y * 128 + (r / 4) * 64 + ty * 4 + r % 4;
    for (int s = 0; s < 2; ++s)
      *reinterpret_cast<float4*>(c + row * n + blockIdx.x * 128 + s * 64 + tx * 4) = {
          sum[r][4 * s], sum[r][4 * s + 1], sum[r][4 * s + 2], sum[r][4 * s + 3]};
  }
}
struct SgemmBounds : Case {
  static constexpr int n = 2048;
  float *a = values(size_t(n) * n, 27), *b = values(size_t(n) * n, 28);
  SgemmBounds() {
    result(size_t(n) * n);
    tolerance = 1e-3f;
  }
  void run(bool fixed) override {
    if (fixed)
      sgemm_tile<2><<<dim3(n / 128, n / 128), 256>>>(a, b, out, n);
    else
      sgemm_tile<4><<<dim3(n / 128, n / 128), 256>>>(a, b, out, n);
  }
};

// ---- median of 16 elements: the window is a local array sorted with computed indices ----
constexpr int window = 16;
__global__ void kth_local(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + window > n) return;
  float v[window];
  for (int k = 0; k < window; ++k) v[k] = in[i + k];
#pragma unroll 1
  for (int k = 1; k < window; ++k) {
    float key = v[k];
    int j = k - 1;
    while (j >= 0 && v[j] > key) {
      v[j + 1] = v[j];
      --j;
    }
    v[j + 1] = key;
  }
  out[i] = 0.5f * (v[window / 2 - 1] + v[window / 2]);
}
__global__ void kth_network(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + window > n) return;
  float v[window];
#pragma unroll
  for (int k = 0; k < window; ++k) v[k] = in[i + k];
#pragma unroll
  for (int round = 0; round < window; ++round)
#pragma unroll
    for (int k = round % 2; k + 1 < window; k += 2) {
      float low = fminf(v[k], v[k + 1]), high = fmaxf(v[k], v[k + 1]);
      v[k] = low;
      v[k + 1] = high;
    }
  out[i] = 0.5f * (v[window / 2 - 1] + v[window / 2]);
}
struct MedianWindow : Case {
  static constexpr int n = 8 << 20;
  float* in = values(n, 29);
  MedianWindow() {
    result(n);
    count = n - window;
  }
  void run(bool fixed) override {
    if (fixed)
      kth_network<<<n / 256, 256>>>(in, out, n);
    else
      kth_local<<<n / 256, 256>>>(in, out, n);
  }
};

}  // namespace

std::vector<Entry> compute_cases() {
  return {{"product_direct", false, make_case<ProductDirect>},
          {"product_plain", false, make_case<ProductPlain>},
          {"nearest_code", false, make_case<NearestCode>},
          {"permute_axes", false, make_case<PermuteAxes>},
          {"gelu", false, make_case<Gelu>},
          {"waves", false, make_case<Waves>},
          {"sgemm_bounds", false, make_case<SgemmBounds>},
          {"median", false, make_case<MedianWindow>},
          {"clean_product", true, make_case<CleanProduct>}};
}
