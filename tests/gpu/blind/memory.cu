// Cases whose fault is in how memory is addressed.
#include "blind.h"

namespace {

// ---- transpose without a tile: reads are coalesced, writes are n floats apart ----
__global__ void transpose_plain(const float* in, float* out, int n) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[size_t(x) * n + y + j] = in[size_t(y + j) * n + x];
}

template <int PITCH>
__global__ void transpose_tiled(const float* in, float* out, int n) {
  __shared__ float tile[32][PITCH];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[size_t(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[size_t(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

struct Transpose : Case {
  static constexpr int n = 6144;
  float* in = values(size_t(n) * n, 1);
  dim3 grid{n / 32, n / 32}, block{32, 8};
  Transpose() { result(size_t(n) * n); }
};
struct TransposeNaive : Transpose {
  void run(bool fixed) override {
    if (fixed)
      transpose_tiled<33><<<grid, block>>>(in, out, n);
    else
      transpose_plain<<<grid, block>>>(in, out, n);
  }
};
struct TransposeTile : Transpose {
  void run(bool fixed) override {
    if (fixed)
      transpose_tiled<33><<<grid, block>>>(in, out, n);
    else
      transpose_tiled<32><<<grid, block>>>(in, out, n);
  }
};
struct CleanTranspose : Transpose {
  void run(bool) override { transpose_tiled<33><<<grid, block>>>(in, out, n); }
};

// ---- particles as an array of 64-byte structs, of which the kernel needs two floats ----
struct Particle {
  float x, y, z, mass, fx, fy, fz, charge;
  float vx, vy, vz, radius, lifetime, temperature, spin, padding;
};
__global__ void prepare_particles(const float* x, const float* vx, Particle* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  p[i].x = x[i];
  p[i].vx = vx[i];
}
__global__ void drift_structs(const Particle* p, float* out, float dt, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = p[i].x + dt * p[i].vx;
}
__global__ void drift_arrays(const float* x, const float* vx, float* out, float dt, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] + dt * vx[i];
}
struct Particles : Case {
  static constexpr int n = 8 << 20;
  float *x = values(n, 2), *vx = values(n, 3);
  Particle* p = device<Particle>(n);
  Particles() {
    result(n);
    prepare_particles<<<blocks_for(n, 256), 256>>>(x, vx, p, n);
  }
  void run(bool fixed) override {
    if (fixed)
      drift_arrays<<<blocks_for(n, 256), 256>>>(x, vx, out, 0.01f, n);
    else
      drift_structs<<<blocks_for(n, 256), 256>>>(p, out, 0.01f, n);
  }
};

// ---- embedding lookup: one thread copies a whole row of 64 floats ----
constexpr int embedding_width = 64;
__global__ void prepare_ids(int* ids, int n, int rows) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) ids[i] = int(mix(i + 77) % unsigned(rows));
}
__global__ void lookup_thread_row(const float* table, const int* ids, float* out, int tokens) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= tokens) return;
  const float* row = table + size_t(ids[t]) * embedding_width;
  for (int d = 0; d < embedding_width; ++d) out[size_t(t) * embedding_width + d] = __ldg(row + d);
}
__global__ void lookup_split_row(const float4* table, const int* ids, float4* out, int tokens) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  constexpr int vectors = embedding_width / 4;
  int t = i / vectors, d = i % vectors;
  if (t < tokens) out[size_t(t) * vectors + d] = __ldg(table + size_t(ids[t]) * vectors + d);
}
struct EmbedRows : Case {
  static constexpr int rows = 400000, tokens = 512 << 10;
  float* table = values(size_t(rows) * embedding_width, 4);
  int* ids = device<int>(tokens);
  EmbedRows() {
    result(size_t(tokens) * embedding_width);
    prepare_ids<<<blocks_for(tokens, 256), 256>>>(ids, tokens, rows);
  }
  void run(bool fixed) override {
    if (fixed)
      lookup_split_row<<<blocks_for(tokens * 16, 256), 256>>>(
          reinterpret_cast<float4*>(table), ids, reinterpret_cast<float4*>(out), tokens);
    else
      lookup_thread_row<<<blocks_for(tokens, 256), 256>>>(table, ids, out, tokens);
  }
};

// ---- stencil along z: planes of 32 MB, so eight neighbours up and down are far outside L2 when z
// is the slow index ----
__device__ float column_stencil(const float* in, size_t i, int z, size_t plane, int depth) {
  const float c[5] = {0.5f, 0.2f, 0.1f, 0.05f, 0.025f};
  float sum = c[0] * in[i];
#pragma unroll
  for (int k = 1; k <= 4; ++k) {
    if (z >= k) sum += c[k] * in[i - k * plane];
    if (z + k < depth) sum += c[k] * in[i + k * plane];
  }
  return sum;
}
__global__ void stencil_z_slow(const float* in, float* out, size_t plane, int depth) {
  int z = blockIdx.y;
  size_t i = z * plane + blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  out[i] = column_stencil(in, i, z, plane, depth);
}
__global__ void stencil_z_fast(const float* in, float* out, size_t plane, int depth) {
  int z = blockIdx.x;
  size_t i = z * plane + blockIdx.y * size_t(blockDim.x) + threadIdx.x;
  out[i] = column_stencil(in, i, z, plane, depth);
}
struct StencilPlanes : Case {
  static constexpr int depth = 16;
  static constexpr size_t plane = 8 << 20;
  float* in = values(plane * depth, 5);
  StencilPlanes() { result(plane * depth); }
  void run(bool fixed) override {
    if (fixed)
      stencil_z_fast<<<dim3(depth, plane / 256), 256>>>(in, out, plane, depth);
    else
      stencil_z_slow<<<dim3(plane / 256, depth), 256>>>(in, out, plane, depth);
  }
};

// ---- adjacency as linked chunks: the address of the next load is in the chunk just loaded ----
constexpr int chunks_per_node = 32;
// An odd multiplier permutes the power-of-two range, so each chunk has one place.
__device__ unsigned scattered(unsigned chunk, unsigned chunks) {
  return (chunk * 2654435761u + 12345u) & (chunks - 1);
}
__global__ void prepare_chunks(float* linked, float* straight, unsigned chunks) {
  unsigned c = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (c >= chunks) return;
  float value = lane ? (mix(c * 32 + lane) >> 8) * (1.0f / 16777216.0f) : 0.0f;
  straight[size_t(c) * 32 + lane] = value;
  size_t place = size_t(scattered(c, chunks)) * 32 + lane;
  linked[place] = lane ? value : __uint_as_float(scattered((c + 1) & (chunks - 1), chunks));
}
__device__ float warp_sum(float v) {
  for (int o = 16; o; o /= 2) v += __shfl_xor_sync(~0u, v, o);
  return v;
}
__global__ void sum_linked(const float* chunks, float* out, int nodes, unsigned total) {
  int node = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (node >= nodes) return;
  unsigned place = scattered(node * chunks_per_node, total);
  float sum = 0;
  for (int c = 0; c < chunks_per_node; ++c) {
    float word = chunks[size_t(place) * 32 + lane];
    place = __float_as_uint(__shfl_sync(~0u, word, 0));
    if (lane) sum += word;
  }
  sum = warp_sum(sum);
  if (lane == 0) out[node] = sum;
}
__global__ void sum_straight(const float* chunks, float* out, int nodes) {
  int node = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (node >= nodes) return;
  const float* mine = chunks + size_t(node) * chunks_per_node * 32 + lane;
  float sum = 0;
#pragma unroll 8
  for (int c = 0; c < chunks_per_node; ++c) sum += mine[c * 32];
  sum = warp_sum(sum);
  if (lane == 0) out[node] = sum;
}
struct EdgeLists : Case {
  static constexpr unsigned total = 2 << 20;
  static constexpr int nodes = total / chunks_per_node;
  float *linked = device<float>(size_t(total) * 32), *straight = device<float>(size_t(total) * 32);
  EdgeLists() {
    result(nodes);
    tolerance = 1e-4f;
    prepare_chunks<<<total / 8, 256>>>(linked, straight, total);
  }
  void run(bool fixed) override {
    if (fixed)
      sum_straight<<<nodes / 8, 256>>>(straight, out, nodes);
    else
      sum_linked<<<nodes / 8, 256>>>(linked, out, nodes, total);
  }
};

// ---- a sum in which each element is an atomic on the same address ----
__global__ void energy_each(const float* v, double* sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(sum, double(0.5f * v[i] * v[i]));
}
__global__ void energy_blocks(const float4* v, double* sum, int vectors) {
  float mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < vectors; i += gridDim.x * blockDim.x) {
    float4 a = v[i];
    mine += 0.5f * (a.x * a.x + a.y * a.y + a.z * a.z + a.w * a.w);
  }
  __shared__ float part[8];
  mine = warp_sum(mine);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x < 32) {
    mine = warp_sum(threadIdx.x < 8 ? part[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0) atomicAdd(sum, double(mine));
  }
}
__global__ void round_sum(const double* sum, float* out) { *out = float(*sum); }
struct EnergySum : Case {
  static constexpr int n = 24 << 20;
  float* v = values(n, 6);
  double* sum = device<double>(1);
  EnergySum() {
    result(1);
    tolerance = 1e-4f;
  }
  void run(bool fixed) override {
    CHECK(cudaMemsetAsync(sum, 0, sizeof(double)));
    if (fixed)
      energy_blocks<<<132 * 8, 256>>>(reinterpret_cast<float4*>(v), sum, n / 4);
    else
      energy_each<<<n / 256, 256>>>(v, sum, n);
    round_sum<<<1, 1>>>(sum, out);
  }
};

// ---- clean ----
__global__ void copy_vectors(const float4* in, float4* out, size_t vectors) {
  size_t i = blockIdx.x * size_t(1024) + threadIdx.x;
#pragma unroll
  for (int k = 0; k < 4; ++k) out[i + k * 256] = in[i + k * 256];
}
struct CleanCopy : Case {
  static constexpr size_t n = 64 << 20;
  float* in = values(n, 7);
  CleanCopy() { result(n); }
  void run(bool) override {
    copy_vectors<<<n / 4096, 256>>>(reinterpret_cast<float4*>(in), reinterpret_cast<float4*>(out),
                                    n / 4);
  }
};
struct CleanReduction : Case {
  static constexpr int n = 64 << 20;
  float* in = values(n, 8);
  double* sum = device<double>(1);
  CleanReduction() {
    result(1);
    tolerance = 1e-3f;
  }
  void run(bool) override {
    CHECK(cudaMemsetAsync(sum, 0, sizeof(double)));
    energy_blocks<<<132 * 8, 256>>>(reinterpret_cast<float4*>(in), sum, n / 4);
    round_sum<<<1, 1>>>(sum, out);
  }
};

}  // namespace

std::vector<Entry> memory_cases() {
  return {{"transpose_naive", false, make_case<TransposeNaive>},
          {"transpose_tile", false, make_case<TransposeTile>},
          {"particles", false, make_case<Particles>},
          {"embed_rows", false, make_case<EmbedRows>},
          {"stencil_planes", false, make_case<StencilPlanes>},
          {"edge_lists", false, make_case<EdgeLists>},
          {"energy_sum", false, make_case<EnergySum>},
          {"clean_copy", true, make_case<CleanCopy>},
          {"clean_transpose", true, make_case<CleanTranspose>},
          {"clean_reduction", true, make_case<CleanReduction>}};
}
