// Cases whose fault is in how work is spread over threads, blocks, SMs and time.
#include <cuda_pipeline.h>

#include "blind.h"

namespace {

__device__ float lanes_sum(float v) {
  for (int o = 16; o; o /= 2) v += __shfl_xor_sync(~0u, v, o);
  return v;
}
__device__ float lanes_max(float v) {
  for (int o = 16; o; o /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, o));
  return v;
}

// ---- CSR SpMV, warp per row, rows sorted by length and split into equal ranges of rows ----
__device__ float row_product(const int* columns, const float* weights, const float* x, int begin,
                             int end) {
  float sum = 0;
#pragma unroll 4
  for (int k = begin + threadIdx.x % 32; k < end; k += 32) sum += weights[k] * x[columns[k]];
  return lanes_sum(sum);
}
__global__ void __launch_bounds__(1024, 2)
    spmv_ranges(const int* starts, const int* columns, const float* weights, const float* x,
                float* y, int rows) {
  int share = (rows + gridDim.x - 1) / gridDim.x, first = blockIdx.x * share,
      last = min(rows, first + share);
  for (int r = first + threadIdx.x / 32; r < last; r += 32) {
    float sum = row_product(columns, weights, x, starts[r], starts[r + 1]);
    if (threadIdx.x % 32 == 0) y[r] = sum;
  }
}
__global__ void __launch_bounds__(1024, 2)
    spmv_strided(const int* starts, const int* columns, const float* weights, const float* x,
                 float* y, int rows) {
  for (int r = threadIdx.x / 32 * gridDim.x + blockIdx.x; r < rows; r += 32 * gridDim.x) {
    float sum = row_product(columns, weights, x, starts[r], starts[r + 1]);
    if (threadIdx.x % 32 == 0) y[r] = sum;
  }
}
// Columns near the diagonal, in runs, as a mesh after reordering has them.
__global__ void prepare_columns(int* columns, int nonzeros, int width) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < nonzeros) columns[k] = int((mix(k / 32) + k % 32) % unsigned(width));
}
struct SpmvRanges : Case {
  static constexpr int rows = 264 * 128, width = 1 << 20;
  int *starts = device<int>(rows + 1), *columns;
  float *weights, *x = values(width, 10);
  SpmvRanges() {
    result(rows);
    tolerance = 1e-4f;
    std::vector<int> host(rows + 1, 0);
    for (int r = 0; r < rows; ++r) {
      double left = 1.0 - double(r) / rows;
      host[r + 1] = host[r] + 32 * (1 + int(90 * left * left * left * left));
    }
    CHECK(cudaMemcpy(starts, host.data(), host.size() * sizeof(int), cudaMemcpyHostToDevice));
    columns = device<int>(host.back());
    weights = values(host.back(), 11);
    prepare_columns<<<blocks_for(host.back(), 256), 256>>>(columns, host.back(), width);
  }
  void run(bool fixed) override {
    if (fixed)
      spmv_strided<<<264, 1024>>>(starts, columns, weights, x, out, rows);
    else
      spmv_ranges<<<264, 1024>>>(starts, columns, weights, x, out, rows);
  }
};

// ---- blocks of one warp: at most 32 blocks are resident on an SM ----
__global__ void prepare_map(int* map, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) map[i] = int(mix(i / 32) % unsigned(n / 32)) * 32 + i % 32;
}
__global__ void relabel(const int* map, const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * in[map[i]];
}
struct RelabelBlocks : Case {
  static constexpr int n = 32 << 20;
  int* map = device<int>(n);
  float* in = values(n, 12);
  RelabelBlocks() {
    result(n);
    prepare_map<<<n / 256, 256>>>(map, n);
  }
  void run(bool fixed) override {
    int block = fixed ? 256 : 32;
    relabel<<<n / block, block>>>(map, in, out, n);
  }
};

// ---- softmax-weighted mean along a chain: all scores kept in registers, or computed online ----
constexpr int hops = 160;
__global__ void prepare_next(int* next, unsigned nodes) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < nodes) next[i] = int((i * 1664525u + 1013904223u) & (nodes - 1));
}
__global__ void __launch_bounds__(256)
    chain_two_pass(const int* next, const float* score, float* out, unsigned nodes) {
  int chain = (blockIdx.x * 256 + threadIdx.x) / 32, lane = threadIdx.x % 32;
  int node = int(mix(chain) & (nodes - 1));
  float s[hops], top = -1e30f;
#pragma unroll
  for (int h = 0; h < hops; ++h) {
    s[h] = score[size_t(node) * 32 + lane];
    node = next[node];
  }
#pragma unroll
  for (int h = 0; h < hops; ++h) top = fmaxf(top, s[h]);
  float norm = 0, sum = 0;
#pragma unroll
  for (int h = 0; h < hops; ++h) {
    float e = __expf(s[h] - top);
    norm += e;
    sum += e * s[h];
  }
  out[chain * 32 + lane] = sum / norm;
}
__global__ void __launch_bounds__(256)
    chain_online(const int* next, const float* score, float* out, unsigned nodes) {
  int chain = (blockIdx.x * 256 + threadIdx.x) / 32, lane = threadIdx.x % 32;
  int node = int(mix(chain) & (nodes - 1));
  float top = -1e30f, norm = 0, sum = 0;
#pragma unroll 4
  for (int h = 0; h < hops; ++h) {
    float s = score[size_t(node) * 32 + lane];
    node = next[node];
    float higher = fmaxf(top, s), scale = __expf(top - higher), e = __expf(s - higher);
    norm = norm * scale + e;
    sum = sum * scale + e * s;
    top = higher;
  }
  out[chain * 32 + lane] = sum / norm;
}
struct ChainSoftmax : Case {
  static constexpr unsigned nodes = 1 << 20;
  static constexpr int chains = 132 * 64;
  int* next = device<int>(nodes);
  float* score = values(size_t(nodes) * 32, 13);
  ChainSoftmax() {
    result(chains * 32);
    tolerance = 1e-3f;
    prepare_next<<<nodes / 256, 256>>>(next, nodes);
  }
  void run(bool fixed) override {
    if (fixed)
      chain_online<<<chains / 8, 256>>>(next, score, out, nodes);
    else
      chain_two_pass<<<chains / 8, 256>>>(next, score, out, nodes);
  }
};

// ---- FIR filter on a staged tile; the launch reserves shared memory for the largest tile ever
// used ----
__global__ void fir_staged(const float* in, float* out, int n) {
  extern __shared__ float tile[];
  int base = blockIdx.x * 1024;
  for (int k = threadIdx.x; k < 1032; k += 256) tile[k] = base + k < n ? in[base + k] : 0.0f;
  __syncthreads();
  const float c[9] = {0.02f, 0.05f, 0.1f, 0.2f, 0.26f, 0.2f, 0.1f, 0.05f, 0.02f};
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    float sum = 0;
#pragma unroll
    for (int t = 0; t < 9; ++t) sum += c[t] * tile[j * 256 + threadIdx.x + t];
    out[base + j * 256 + threadIdx.x] = sum;
  }
}
struct FirReserve : Case {
  static constexpr int n = 32 << 20, most = 160 << 10;
  float* in = values(n, 14);
  FirReserve() {
    result(n);
    CHECK(cudaFuncSetAttribute(fir_staged, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  }
  void run(bool fixed) override {
    fir_staged<<<n / 1024, 256, fixed ? 1032 * 4 : most>>>(in, out, n);
  }
};

// ---- iterated map with a table in shared memory, one block per SM: 144 blocks on 132 SMs, or 132
// even shares ----
constexpr int map_table = 30 << 10;
__global__ void __launch_bounds__(1024)
    iterate_map(const float* table, const float4* in, float4* out, int share) {
  extern __shared__ float coefficient[];
  for (int i = threadIdx.x; i < map_table; i += 1024) coefficient[i] = table[i];
  __syncthreads();
  for (int i = blockIdx.x * share + threadIdx.x; i < (blockIdx.x + 1) * share; i += 1024) {
    float4 v = in[i];
    float a = coefficient[i % map_table];
#pragma unroll 8
    for (int k = 0; k < 128; ++k) {
      v.x = v.x * v.x + a;
      v.y = v.y * v.y + a;
      v.z = v.z * v.z + a;
      v.w = v.w * v.w + a;
    }
    out[i] = v;
  }
}
__global__ void prepare_map_table(float* table) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < map_table) table[i] = -0.2f - 0.1f * (mix(i) >> 8) / 16777216.0f;
}
struct IterateMap : Case {
  static constexpr int n = 144 * 132 * 512;  // float4
  float *table = device<float>(map_table), *in = values(size_t(n) * 4, 15);
  IterateMap() {
    result(size_t(n) * 4);
    tolerance = 1e-4f;
    prepare_map_table<<<map_table / 256, 256>>>(table);
    CHECK(cudaFuncSetAttribute(iterate_map, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               map_table * 4));
  }
  void run(bool fixed) override {
    int blocks = fixed ? 132 : 144;
    iterate_map<<<blocks, 1024, map_table * 4>>>(table, reinterpret_cast<float4*>(in),
                                                 reinterpret_cast<float4*>(out), n / blocks);
  }
};

// ---- causal attention row: tile i needs i + 1 key tiles; started in ascending order the longest
// run last ----
constexpr int head_width = 32, query_tile = 128, tiles = 32, sequence = query_tile * tiles,
              heads = 48;
template <bool LONGEST_FIRST>
__global__ void __launch_bounds__(query_tile)
    causal_rows(const float* q, const float* k, float* out) {
  __shared__ float4 keys[32][head_width / 4];
  int head = blockIdx.x % heads, tile = blockIdx.x / heads;
  if (LONGEST_FIRST) tile = tiles - 1 - tile;
  int row = tile * query_tile + threadIdx.x;
  size_t base = size_t(head) * sequence;
  float4 mine[head_width / 4];
  for (int d = 0; d < head_width / 4; ++d)
    mine[d] = reinterpret_cast<const float4*>(q)[(base + row) * (head_width / 4) + d];
  float norm = 0, sum = 0;
  for (int first = 0; first < (tile + 1) * query_tile; first += 32) {
    __syncthreads();
    for (int i = threadIdx.x; i < 32 * head_width / 4; i += query_tile)
      keys[i / (head_width / 4)][i % (head_width / 4)] =
          reinterpret_cast<const float4*>(k)[(base + first) * (head_width / 4) + i];
    __syncthreads();
#pragma unroll 4
    for (int j = 0; j < 32; ++j) {
      float dot = 0;
#pragma unroll
      for (int d = 0; d < head_width / 4; ++d) {
        float4 b = keys[j][d];
        dot += mine[d].x * b.x + mine[d].y * b.y + mine[d].z * b.z + mine[d].w * b.w;
      }
      float e = first + j <= row ? __expf(dot * 0.17f) : 0.0f;
      norm += e;
      sum += e * keys[j][0].x;
    }
  }
  out[base + row] = sum / norm;
}
struct CausalOrder : Case {
  float *q = values(size_t(heads) * sequence * head_width, 16),
        *k = values(size_t(heads) * sequence * head_width, 17);
  CausalOrder() {
    result(size_t(heads) * sequence);
    tolerance = 1e-4f;
  }
  void run(bool fixed) override {
    if (fixed)
      causal_rows<true><<<heads * tiles, query_tile>>>(q, k, out);
    else
      causal_rows<false><<<heads * tiles, query_tile>>>(q, k, out);
  }
};

// ---- softmax of rows: block-wide tree with a barrier at each level, or shuffles and two barriers
// ----
constexpr int row_width = 1024;
__global__ void __launch_bounds__(1024) softmax_tree(const float* in, float* out) {
  __shared__ float tree[row_width];
  size_t i = size_t(blockIdx.x) * row_width + threadIdx.x;
  float v = in[i];
  tree[threadIdx.x] = v;
  __syncthreads();
  for (int half = row_width / 2; half; half /= 2) {
    if (threadIdx.x < half) tree[threadIdx.x] = fmaxf(tree[threadIdx.x], tree[threadIdx.x + half]);
    __syncthreads();
  }
  float e = __expf(v - tree[0]);
  __syncthreads();
  tree[threadIdx.x] = e;
  __syncthreads();
  for (int half = row_width / 2; half; half /= 2) {
    if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
    __syncthreads();
  }
  out[i] = e / tree[0];
}
// A warp holds a row: no barrier at all.
__global__ void __launch_bounds__(256) softmax_warp(const float4* in, float4* out, int rows) {
  int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float4* mine = in + size_t(row) * (row_width / 4);
  float4 v[8];
  float top = -1e30f;
#pragma unroll
  for (int k = 0; k < 8; ++k) v[k] = mine[k * 32 + lane];
#pragma unroll
  for (int k = 0; k < 8; ++k) top = fmaxf(fmaxf(fmaxf(top, v[k].x), fmaxf(v[k].y, v[k].z)), v[k].w);
  top = lanes_max(top);
  float norm = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    v[k] = {__expf(v[k].x - top), __expf(v[k].y - top), __expf(v[k].z - top), __expf(v[k].w - top)};
    norm += v[k].x + v[k].y + v[k].z + v[k].w;
  }
  norm = 1.0f / lanes_sum(norm);
  float4* to = out + size_t(row) * (row_width / 4);
#pragma unroll
  for (int k = 0; k < 8; ++k)
    to[k * 32 + lane] = {v[k].x * norm, v[k].y * norm, v[k].z * norm, v[k].w * norm};
}
struct SoftmaxRows : Case {
  static constexpr int rows = 32 << 10;
  float* in = values(size_t(rows) * row_width, 18);
  SoftmaxRows() { result(size_t(rows) * row_width); }
  void run(bool fixed) override {
    if (fixed)
      softmax_warp<<<rows / 8, 256>>>(reinterpret_cast<float4*>(in), reinterpret_cast<float4*>(out),
                                      rows);
    else
      softmax_tree<<<rows, row_width>>>(in, out);
  }
};

// ---- cp.async staging: one warp copies and all wait for each tile, or four tiles in flight ----
constexpr int staged_blocks = 264, staged_tile = 1024;
__device__ float4 polynomial(float4 v) {
  auto p = [](float x) { return ((0.1f * x + 0.3f) * x - 0.5f) * x + 1.0f; };
  return {p(v.x), p(v.y), p(v.z), p(v.w)};
}
__global__ void __launch_bounds__(256) staged_single(const float* in, float* out, int tiles_each) {
  __shared__ float4 tile[staged_tile / 4];
  const float4* from =
      reinterpret_cast<const float4*>(in) + size_t(blockIdx.x) * tiles_each * (staged_tile / 4);
  float4* to = reinterpret_cast<float4*>(out) + size_t(blockIdx.x) * tiles_each * (staged_tile / 4);
  for (int t = 0; t < tiles_each; ++t) {
    if (threadIdx.x < 32) {
      for (int i = threadIdx.x; i < staged_tile / 4; i += 32)
        __pipeline_memcpy_async(&tile[i], &from[t * (staged_tile / 4) + i], 16);
      __pipeline_commit();
      __pipeline_wait_prior(0);
    }
    __syncthreads();
    to[t * (staged_tile / 4) + threadIdx.x] = polynomial(tile[threadIdx.x]);
    __syncthreads();
  }
}
__global__ void __launch_bounds__(256) staged_ring(const float* in, float* out, int tiles_each) {
  constexpr int stages = 8;
  __shared__ float4 ring[stages][staged_tile / 4];
  const float4* from =
      reinterpret_cast<const float4*>(in) + size_t(blockIdx.x) * tiles_each * (staged_tile / 4);
  float4* to = reinterpret_cast<float4*>(out) + size_t(blockIdx.x) * tiles_each * (staged_tile / 4);
  // Each thread reads only what it copied itself, so its own wait is enough.
  auto start = [&](int t) {
    if (t < tiles_each)
      __pipeline_memcpy_async(&ring[t % stages][threadIdx.x],
                              &from[t * (staged_tile / 4) + threadIdx.x], 16);
    __pipeline_commit();
  };
  for (int t = 0; t < stages - 1; ++t) start(t);
  for (int t = 0; t < tiles_each; ++t) {
    start(t + stages - 1);
    __pipeline_wait_prior(stages - 1);
    to[t * (staged_tile / 4) + threadIdx.x] = polynomial(ring[t % stages][threadIdx.x]);
  }
}
struct StagedTiles : Case {
  static constexpr int tiles_each = 128;
  static constexpr size_t n = size_t(staged_blocks) * tiles_each * staged_tile;
  float* in = values(n, 19);
  StagedTiles() { result(n); }
  void run(bool fixed) override {
    if (fixed)
      staged_ring<<<staged_blocks, 256>>>(in, out, tiles_each);
    else
      staged_single<<<staged_blocks, 256>>>(in, out, tiles_each);
  }
};

}  // namespace

std::vector<Entry> schedule_cases() {
  return {{"spmv_ranges", false, make_case<SpmvRanges>},
          {"relabel", false, make_case<RelabelBlocks>},
          {"chain_softmax", false, make_case<ChainSoftmax>},
          {"fir", false, make_case<FirReserve>},
          {"iterate_map", false, make_case<IterateMap>},
          {"causal_order", false, make_case<CausalOrder>},
          {"softmax_rows", false, make_case<SoftmaxRows>},
          {"staged_tiles", false, make_case<StagedTiles>}};
}
