// Which tile a block works on next.
#pragma once

#include "tile_plan.cuh"

namespace fathom::attention {

// Rows of one head, and the K/V tiles that they see.
struct Tile {
  int first_row, head, batch, key_tiles;
};

// Tile number `index` in the order in which they are worked on. Persistent blocks take heads in
// groups that fit into L2 and, where the mask is causal, the tiles with most keys first: small ones
// fill the gaps at the end.
template <class P>
__device__ inline Tile find_tile(const HopperArguments& a, int index) {
  int row_tile, head;
  if constexpr (P::persistent) {
    const int tail = a.tail_head * a.row_tiles;
    const int group = index < tail ? index / (a.row_tiles * a.heads_at_once) : 0;
    const int first_head = index < tail ? group * a.heads_at_once : a.tail_head;
    const int width = index < tail ? a.heads_at_once : a.heads - a.tail_head;
    const int inside = index - first_head * a.row_tiles;
    const int row = inside / width;
    row_tile = P::causal ? a.row_tiles - 1 - row : row;
    head = first_head + inside - row * width;
  } else {
    head = index / a.row_tiles;
    row_tile = index - head * a.row_tiles;
  }
  Tile tile;
  tile.first_row = row_tile * P::rows;
  tile.batch = head / a.query_heads;
  tile.head = head - tile.batch * a.query_heads;
  const int keys = P::causal ? min(a.key_length, tile.first_row + P::rows) : a.key_length;
  tile.key_tiles = (keys + P::keys - 1) / P::keys;
  return tile;
}

// Hands tiles to this block: the next one that no block has claimed, or, without a counter, every
// gridDim-th, each other turn in reverse order so that no block gets the larger tile of every turn.
struct TileOrders {
  const HopperArguments& a;
  int turn = 0;

  __device__ int next() {
    const int blocks = static_cast<int>(gridDim.x), block = static_cast<int>(blockIdx.x);
    const int round = turn++;
    if (round == 0) return block;
    if (a.claimed != nullptr) return blocks + static_cast<int>(atomicAdd(a.claimed, 1));
    return round * blocks + (round % 2 == 0 ? block : blocks - 1 - block);
  }

  // The last block leaves the counters as it found them.
  __device__ void finish() const {
    if (a.claimed == nullptr) return;
    __threadfence();
    if (atomicAdd(a.claimed + 1, 1) == gridDim.x - 1) {
      a.claimed[0] = 0;
      a.claimed[1] = 0;
    }
  }
};

// The order of tiles where the mask is causal. Without a counter all heads are one group: blocks
// get equal work only if every turn goes over tiles of about one size.
inline void choose_causal_order(const FathomAttention& attention, HopperArguments& a) {
  const int sharing = a.heads_per_key_head;
  a.heads_at_once = a.heads;
  a.tail_head = 0;
  if (attention.workspace == nullptr) return;
  constexpr int kShortHead = 4;  // row tiles
  if (a.row_tiles <= kShortHead) {
    // Bound by memory: the tiles of a head one after the other, so that large ones, which wait for
    // memory, and small ones, whose keys are in L2 by then, run side by side. At the end the
    // largest first.
    constexpr int kTailHeads = 64;
    a.heads_at_once = sharing;
    a.tail_head = max(0, a.heads - kTailHeads) / sharing * sharing;
    return;
  }
  // As many heads as have K and V that L2 keeps, in groups of the same size; but at least four, or
  // blocks would idle at the end of a group.
  constexpr int64_t kShort = 1024;
  const int64_t resident = int64_t{attention.key_length <= kShort ? 16 : 36} << 20;
  const int64_t head_bytes = int64_t{4} * attention.key_length * attention.head_dim;
  const int64_t fitting = min(int64_t{a.heads}, max(int64_t{4}, resident / head_bytes * sharing));
  const int groups = divide_up(a.heads, static_cast<int>(fitting));
  a.heads_at_once = divide_up(divide_up(a.heads, groups), sharing) * sharing;
  a.tail_head = (a.heads - 1) / a.heads_at_once * a.heads_at_once;
}

}  // namespace fathom::attention
