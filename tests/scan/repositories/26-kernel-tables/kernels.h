// Kernels in a table, which a macro writes; another file launches by its index.
#pragma once

template <int BLOCK, int UNROLL>
__global__ void reduce(const float* in, float* out, int n) {
  for (int i = threadIdx.x; i < n; i += BLOCK * UNROLL) out[threadIdx.x] += in[i];
}
__global__ void fill(float* out) { out[threadIdx.x] = 1; }
__global__ void clear(float* out) { out[threadIdx.x] = 0; }
inline void host_twin(float* out) { out[0] = 0; }

typedef void (*Reduce)(const float*, float*, int);
typedef void (*Prepare)(float*);

#define UNROLLED(BLOCK) {reduce<BLOCK, 1>, reduce<BLOCK, 2>}

Reduce reduce_table[2][2] = {UNROLLED(64), UNROLLED(128)};
Prepare prepare_table[] = {fill, clear};
Prepare host_table[] = {host_twin};
const int fill_sizes[] = {64, 128};

// One macro for table after table, each of another class.
template <int BITS>
__global__ void pack(const float* in, int* out) {
  out[threadIdx.x] = int(in[threadIdx.x]) >> (32 - BITS);
}
template <int BITS>
__global__ void unpack(const int* in, float* out) {
  out[threadIdx.x] = float(in[threadIdx.x] << (32 - BITS));
}
#define __(i) pack<i>
constexpr auto pack_instances = std::array{__(2), __(4)};
#undef __
#define __(i) unpack<i>
constexpr auto unpack_instances = std::array<Unpack, 2>{__(2), __(4)};
#undef __
