// What the Hopper rungs (v6 and later) share: tensor maps, tile geometry, and the two products of a
// tile.
#pragma once

#include <cuda.h>

#include <type_traits>

#include "launch.h"
#include "output_rows.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/tma.cuh"
#include "ptx/warpgroup.cuh"
#include "ptx/wgmma.cuh"

namespace fathom::attention {

constexpr int kPanelColumns = 64;  // 128 bytes: the widest swizzle
constexpr int kGroupRows = 64;     // rows of Q that a warpgroup works on

struct HopperArguments {
  void* o;
  FathomTensorStrides o_strides;
  int query_heads, heads_per_key_head;
  int query_length, key_length;
  float scale;           // · log2(e)
  int row_tiles, heads;  // tiles of Q rows per head; heads of all batch entries
  // Persistent rungs: the order of tiles. Heads are taken in groups of heads_at_once, those from
  // tail_head on as one group; `claimed` counts the tiles handed out so far and the blocks that are
  // done, or is null.
  int heads_at_once, tail_head;
  unsigned* claimed;
};

inline HopperArguments make_arguments(const FathomAttention& attention, int rows) {
  HopperArguments a{};
  a.o = attention.o;
  a.o_strides = attention.o_strides;
  a.query_heads = attention.query_heads;
  a.heads_per_key_head = attention.query_heads / attention.key_heads;
  a.query_length = attention.query_length;
  a.key_length = attention.key_length;
  a.scale = exp2_scale(attention);
  a.row_tiles = divide_up(attention.query_length, rows);
  a.heads = attention.batch * attention.query_heads;
  return a;
}

// Calls `launch(T{}, head dimension, causal)` with what the call asks for as compile-time
// constants.
template <class Launch>
cudaError_t for_type_dim_mask(const FathomAttention& attention, Launch launch) {
  const auto by_mask = [&](auto type, auto dim) {
    return attention.causal ? launch(type, dim, std::true_type{})
                            : launch(type, dim, std::false_type{});
  };
  const auto by_dim = [&](auto type) {
    return attention.head_dim == 64 ? by_mask(type, std::integral_constant<int, 64>{})
                                    : by_mask(type, std::integral_constant<int, 128>{});
  };
  return attention.element_type == FATHOM_BFLOAT16 ? by_dim(__nv_bfloat16{}) : by_dim(__half{});
}

// A tensor as (64, rows, panels, heads, batch), in boxes of `rows` rows of one head.
cudaError_t make_tensor_map(CUtensorMap* map, const void* data, const FathomTensorStrides& strides,
                            const FathomAttention& attention, int heads, int length, int rows);

// Issues S = Q Kᵀ of one warpgroup: 64 rows, kKeys columns.
template <class T, int kHeadDim, int kKeys>
__device__ inline void issue_scores(float (&scores)[kKeys / 2], uint32_t q, uint32_t k) {
  const uint64_t q_matrix = matrix_descriptor(q);
  const uint64_t k_matrix = matrix_descriptor(k);
#pragma unroll
  for (int step = 0; step < kHeadDim / 16; ++step) {
    // 16 elements along K: 32 bytes inside a panel, then the next panel.
    const uint32_t q_offset = step / 4 * (kGroupRows * 128) + step % 4 * 32;
    const uint32_t k_offset = step / 4 * (kKeys * 128) + step % 4 * 32;
    Product<T, kKeys>::shared(scores, q_matrix + (q_offset >> 4), k_matrix + (k_offset >> 4),
                              step != 0);
  }
}

// Issues O += P V. V lies as it is in memory, rows of keys; the product reads it transposed.
template <class T, int kHeadDim, int kKeys>
__device__ inline void issue_output(float (&output)[kHeadDim / 2],
                                    const uint32_t (&probabilities)[kKeys / 4], uint32_t v) {
  const uint64_t v_matrix = matrix_descriptor(v, kKeys * 128);
#pragma unroll
  for (int step = 0; step < kKeys / 16; ++step) {
    Product<T, kHeadDim>::registers(output, &probabilities[4 * step],
                                    v_matrix + (step * 16 * 128 >> 4), 1);
  }
}

// 16 rows of a warp into shared memory, in the swizzled panels that store_tile() takes.
template <class T, int kHeadDim>
__device__ inline void stage_rows(const float (&values)[kHeadDim / 2], const float (&factor)[2],
                                  uint32_t address) {
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t row =
      lane % 16;  // blocks 0, 1: the upper and lower 8 rows; 2, 3: 8 columns further on
#pragma unroll
  for (int pair = 0; pair < kHeadDim / 16; ++pair) {
    uint32_t words[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float* two = &values[8 * pair + 2 * i];
      words[i] = pack(two[0] * factor[i % 2], two[1] * factor[i % 2], T{});
    }
    const uint32_t column = pair % 4 * 2 + lane / 16;
    store_matrices(address + pair / 4 * (16 * 128) + row * 128 + (column ^ row % 8) * 16, words);
  }
}

}  // namespace fathom::attention
