// The bulk tensor copy engine (TMA): tiles of a tensor into shared memory, rows outside of it as
// zeros.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace fathom::attention {

__device__ inline void prefetch_tensor_map(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// The tensor is seen as (64 elements, rows, panels of 64, heads, batch): a tile arrives as panels
// of rows × 128 bytes, each with the 128-byte swizzle that wgmma reads.
__device__ inline void load_tile(const CUtensorMap* map, uint32_t barrier, uint32_t destination,
                                 int row, int head, int batch) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4, %3, %5, %6}], [%2];" ::"r"(destination),
      "l"(map), "r"(barrier), "r"(0), "r"(row), "r"(head), "r"(batch)
      : "memory");
}

// The other way: rows outside of the tensor are not written. Whoever wrote the source has to have
// passed shared_writes_done() before.
__device__ inline void store_tile(const CUtensorMap* map, uint32_t source, int row, int head,
                                  int batch) {
  asm volatile(
      "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group"
      " [%0, {%2, %3, %2, %4, %5}], [%1];" ::"l"(map),
      "r"(source), "r"(0), "r"(row), "r"(head), "r"(batch)
      : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Until the sources of this thread's stores may be overwritten.
__device__ inline void store_sources_read() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

// Ordinary stores to shared memory become visible to the copy engine.
__device__ inline void shared_writes_done() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Four 8×8 blocks of 16-bit pairs, from the accumulator layout to rows of 16 bytes; lane i gives
// the address of row i % 8 of block i / 8.
__device__ inline void store_matrices(uint32_t address, const uint32_t (&words)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
               "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
               : "memory");
}

}  // namespace fathom::attention
