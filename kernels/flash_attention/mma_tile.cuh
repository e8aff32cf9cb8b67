// The rungs v4 and v5: eight warps of 16 query rows each, tiles of 64 keys, mma.sync. The rungs
// differ in how tiles come into shared memory.
#pragma once

#include <type_traits>

#include "launch.h"
#include "output_rows.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/mma_sync.cuh"

namespace fathom::attention {

constexpr int kMmaThreads = 256;
constexpr int kMmaRows = 128;
constexpr int kMmaKeys = 64;

struct MmaArguments {
  const void *q, *k, *v;
  void* o;
  FathomTensorStrides q_strides, k_strides, v_strides, o_strides;
  int heads_per_key_head, query_length, key_length, causal;
  float scale;  // · log2(e)
};

template <int kHeadDim>
struct MmaLayout {
  static constexpr int pitch = (kHeadDim + 8) * 2;  // bytes; eight rows then cover all banks
  static constexpr uint32_t key_bytes = kMmaKeys * pitch;
  static constexpr uint32_t stage_bytes = 2 * key_bytes;  // K and V; as much as 128 rows of Q
};

// What a block works on.
template <class T>
struct MmaBlock {
  const T *q, *k, *v;
  T* o;
  int first_row, key_tiles;

  __device__ explicit MmaBlock(const MmaArguments& a) {
    const int head = static_cast<int>(blockIdx.y), batch = static_cast<int>(blockIdx.z);
    const int key_head = head / a.heads_per_key_head;
    // The rows with most keys first.
    first_row = static_cast<int>(gridDim.x - 1 - blockIdx.x) * kMmaRows;
    q = static_cast<const T*>(a.q) + batch * a.q_strides.batch + head * a.q_strides.head;
    k = static_cast<const T*>(a.k) + batch * a.k_strides.batch + key_head * a.k_strides.head;
    v = static_cast<const T*>(a.v) + batch * a.v_strides.batch + key_head * a.v_strides.head;
    o = static_cast<T*>(a.o) + batch * a.o_strides.batch + head * a.o_strides.head;
    const int keys = a.causal ? min(a.key_length, first_row + kMmaRows) : a.key_length;
    key_tiles = (keys + kMmaKeys - 1) / kMmaKeys;
  }
};

// Calls `copy(address in shared memory, source, valid)` for every 16 bytes of kRows rows.
template <class T, int kHeadDim, int kRows, class Copy>
__device__ inline void for_each_piece(uint32_t tile, const T* rows, int64_t stride, int valid,
                                      Copy copy) {
  constexpr int kPieces = kHeadDim / 8;
#pragma unroll
  for (int i = 0; i < kRows * kPieces / kMmaThreads; ++i) {
    const int piece = i * kMmaThreads + static_cast<int>(threadIdx.x);
    const int row = piece / kPieces, column = piece % kPieces;
    // A row that does not exist is not even pointed at.
    copy(tile + row * MmaLayout<kHeadDim>::pitch + column * 16,
         rows + min(row, valid - 1) * stride + column * 8, row < valid);
  }
}

template <class T, int kHeadDim>
struct MmaWarp {
  static constexpr int kPitch = MmaLayout<kHeadDim>::pitch;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int row = static_cast<int>(threadIdx.x / 32) * 16;  // inside the block
  uint32_t queries[kHeadDim / 16][4];
  float output[kHeadDim / 2] = {};
  OnlineSoftmax softmax;

  __device__ explicit MmaWarp(float scale) : softmax{scale} {}

  __device__ void take_queries(uint32_t tile) {
#pragma unroll
    for (int step = 0; step < kHeadDim / 16; ++step) {
      load_matrices(tile + (row + lane % 16) * kPitch + (step * 2 + lane / 16) * 16, queries[step]);
    }
  }

  __device__ void attend(uint32_t k, uint32_t v, int first_key, int first_row, int causal,
                         int key_length) {
    float scores[kMmaKeys / 2] = {};
#pragma unroll
    for (int step = 0; step < kHeadDim / 16; ++step) {
#pragma unroll
      for (int keys = 0; keys < kMmaKeys; keys += 16) {
        uint32_t b[4];
        load_matrices(
            k + (keys + lane % 8 + lane / 16 * 8) * kPitch + (step * 2 + lane / 8 % 2) * 16, b);
        multiply(&scores[keys / 2], queries[step], &b[0], T{});
        multiply(&scores[keys / 2 + 4], queries[step], &b[2], T{});
      }
    }
    if (causal && first_key + kMmaKeys - 1 > first_row + row) {
      mask_scores<true>(scores, first_key, first_row + row, key_length);
    } else if (first_key + kMmaKeys > key_length) {
      mask_scores<false>(scores, first_key, first_row + row, key_length);
    }
    float rescale[2];
    softmax.step<true>(scores, rescale);
    rescale_rows(output, rescale);
    uint32_t probabilities[kMmaKeys / 4];
    pack_probabilities<T>(scores, probabilities);
#pragma unroll
    for (int keys = 0; keys < kMmaKeys; keys += 16) {
#pragma unroll
      for (int d = 0; d < kHeadDim; d += 16) {
        uint32_t b[4];
        load_matrices_transposed(v + (keys + lane % 16) * kPitch + (d / 8 + lane / 16) * 16, b);
        multiply(&output[d / 2], &probabilities[keys / 4], &b[0], T{});
        multiply(&output[d / 2 + 4], &probabilities[keys / 4], &b[2], T{});
      }
    }
  }

  __device__ void store(const MmaArguments& a, const MmaBlock<T>& block) {
    float factor[2];
    softmax.finish(factor);
    const int first = block.first_row + row;
    store_rows(output, factor, block.o + first * a.o_strides.row, a.o_strides.row,
               a.query_length - first);
  }
};

// Starts `kernel<T, head dimension>` through `pick(T{}, dimension)`, which gives the function.
template <class Pick>
cudaError_t launch_mma(const FathomAttention& attention, int stages, Pick pick) {
  const MmaArguments a{attention.q,
                       attention.k,
                       attention.v,
                       attention.o,
                       attention.q_strides,
                       attention.k_strides,
                       attention.v_strides,
                       attention.o_strides,
                       attention.query_heads / attention.key_heads,
                       attention.query_length,
                       attention.key_length,
                       attention.causal,
                       exp2_scale(attention)};
  const dim3 grid(divide_up(attention.query_length, kMmaRows), attention.query_heads,
                  attention.batch);
  const auto start = [&](auto kernel, int shared_bytes) {
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
    if (error != cudaSuccess) return error;
    kernel<<<grid, kMmaThreads, shared_bytes, static_cast<cudaStream_t>(attention.stream)>>>(a);
    return cudaGetLastError();
  };
  const auto by_type = [&](auto type) {
    return attention.head_dim == 64 ? start(pick(type, std::integral_constant<int, 64>{}),
                                            stages * static_cast<int>(MmaLayout<64>::stage_bytes))
                                    : start(pick(type, std::integral_constant<int, 128>{}),
                                            stages * static_cast<int>(MmaLayout<128>::stage_bytes));
  };
  return attention.element_type == FATHOM_BFLOAT16 ? by_type(__nv_bfloat16{}) : by_type(__half{});
}

}  // namespace fathom::attention
