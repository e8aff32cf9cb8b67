// What the Hopper rungs (v6 and later) share: tensor maps, tile geometry, and the two products of a tile.
#pragma once

#include <cuda.h>

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
  float scale;             // · log2(e)
  int row_tiles, heads;    // tiles of Q rows per head; heads of all batch entries
  int heads_at_once;       // persistent rungs: heads whose K and V should stay in L2 together
};

// A tensor as (64, rows, panels, heads, batch), in boxes of `rows` rows of one head.
cudaError_t make_tensor_map(CUtensorMap* map, const void* data, const FathomTensorStrides& strides,
                            const FathomAttention& attention, int heads, int length, int rows);

template <int kHeadDim, int kRows>
constexpr uint32_t tile_bytes() {
  return kRows * kHeadDim * 2;
}

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
                                    const uint32_t (&probabilities)[kKeys / 4],
                                    uint32_t v) {
  const uint64_t v_matrix = matrix_descriptor(v, kKeys * 128);
#pragma unroll
  for (int step = 0; step < kKeys / 16; ++step) {
    Product<T, kHeadDim>::registers(output, &probabilities[4 * step],
                                    v_matrix + (step * 16 * 128 >> 4), 1);
  }
}

}  // namespace fathom::attention
