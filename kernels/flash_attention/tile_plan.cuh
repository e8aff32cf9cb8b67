// The shape of the tiles of the rungs v7 to v10, which of the rungs' ideas are on, and where things
// lie in shared memory.
#pragma once

#include "hopper.cuh"

namespace fathom::attention {

// The ideas, one bit each.
enum Idea : unsigned {
  kOverlap = 1,     // scores of the next tile are multiplied while this one's softmax runs
  kPingPong = 2,    // warpgroups take turns at the tensor cores
  kPersistent = 4,  // one block per SM walks over many tiles
  kBulkStore = 8,   // rows of O go out through shared memory and the copy engine
};

// A tile is 64 rows of Q for each consumer warpgroup and `keys` rows of K and V, `stages` of which
// are in flight (of Q: `query_stages`).
template <int kHeadDim, bool kCausal, int kKeys, int kGroups, int kStages, int kQueryStages,
          unsigned kIdeas>
struct Plan {
  static constexpr int head_dim = kHeadDim, keys = kKeys, groups = kGroups, stages = kStages,
                       query_stages = kQueryStages;
  static constexpr bool causal = kCausal;
  static constexpr bool overlap = kIdeas & kOverlap, ping_pong = kIdeas & kPingPong,
                        persistent = kIdeas & kPersistent, bulk_store = kIdeas & kBulkStore;
  static constexpr int threads = (groups + 1) * 128;
  static constexpr int rows = groups * kGroupRows;
  static constexpr uint32_t query_bytes = kGroupRows * head_dim * 2;
  static constexpr uint32_t key_bytes = keys * head_dim * 2;
  static constexpr int orders = 4;  // tiles that the producer may be ahead
  static constexpr uint32_t tile_bytes =
      (query_stages + bulk_store) * groups * query_bytes + 2 * stages * key_bytes;
  static constexpr int barriers = 2 * (groups * query_stages + 2 * stages + orders);
  static constexpr uint32_t shared_bytes = 1024 + tile_bytes + 8 * barriers + 4 * orders;
  static_assert(shared_bytes <= 227 * 1024);
};

// Addresses in shared memory.
template <class P>
struct Arena {
  uint32_t base;

  __device__ explicit Arena(const char* memory) { base = (shared_address(memory) + 1023) & ~1023u; }

  __device__ uint32_t q(int stage, int group) const {
    return base + (stage * P::groups + group) * P::query_bytes;
  }
  __device__ uint32_t o(int group) const { return q(P::query_stages, group); }
  __device__ uint32_t k(int stage) const {
    return base + P::tile_bytes - (2 * P::stages - stage) * P::key_bytes;
  }
  __device__ uint32_t v(int stage) const { return k(P::stages + stage); }
  __device__ uint32_t barrier(int number) const { return base + P::tile_bytes + 8 * number; }
  __device__ uint32_t k_full(int stage) const { return barrier(stage); }
  __device__ uint32_t k_empty(int stage) const { return barrier(P::stages + stage); }
  __device__ uint32_t v_full(int stage) const { return barrier(2 * P::stages + stage); }
  __device__ uint32_t v_empty(int stage) const { return barrier(3 * P::stages + stage); }
  __device__ uint32_t q_full(int stage, int group) const {
    return barrier(4 * P::stages + stage * P::groups + group);
  }
  __device__ uint32_t q_empty(int stage, int group) const {
    return q_full(P::query_stages + stage, group);
  }
  __device__ uint32_t order_full(int stage) const { return q_full(2 * P::query_stages, stage); }
  __device__ uint32_t order_empty(int stage) const { return order_full(P::orders + stage); }
  __device__ uint32_t order(int stage) const { return barrier(P::barriers) + 4 * stage; }

  // A warp says once that it has read something: that is one arrival for each consumer warp.
  __device__ void init_barriers() const {
    constexpr int kConsumerWarps = 4 * P::groups;
    for (int stage = 0; stage < P::stages; ++stage) {
      barrier_init(k_full(stage), 1);
      barrier_init(v_full(stage), 1);
      barrier_init(k_empty(stage), kConsumerWarps);
      barrier_init(v_empty(stage), kConsumerWarps);
    }
    for (int stage = 0; stage < P::query_stages; ++stage) {
      for (int group = 0; group < P::groups; ++group) {
        barrier_init(q_full(stage, group), 1);
        barrier_init(q_empty(stage, group), 4);
      }
    }
    for (int stage = 0; stage < P::orders; ++stage) {
      barrier_init(order_full(stage), 1);
      barrier_init(order_empty(stage), kConsumerWarps);
    }
    barrier_init_fence();
  }
};

}  // namespace fathom::attention
