// The bulk tensor copy engine (TMA): tiles of a tensor into shared memory, rows outside of it as zeros.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace fathom::attention {

__device__ inline void prefetch_tensor_map(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// The tensor is seen as (64 elements, rows, panels of 64, heads, batch): a tile arrives as panels of
// rows × 128 bytes, each with the 128-byte swizzle that wgmma reads.
__device__ inline void load_tile(const CUtensorMap* map, uint32_t barrier, uint32_t destination,
                                 int row, int head, int batch) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4, %3, %5, %6}], [%2];" ::"r"(destination),
      "l"(map), "r"(barrier), "r"(0), "r"(row), "r"(head), "r"(batch)
      : "memory");
}

}  // namespace fathom::attention
