// The kernel of the rungs v7 to v10: one producer warp copies tiles with TMA, two or three consumer
// warpgroups of 64 rows each compute. Plan says which of the rungs' ideas are switched on.
#pragma once

#include "hopper.cuh"

namespace fathom::attention {

// The ideas, one bit each.
enum Idea : unsigned {
  kOverlap = 1,      // scores of the next tile are multiplied while this one's softmax runs
  kPingPong = 2,     // warpgroups take turns at the tensor cores
  kPersistent = 4,   // one block per SM walks over many tiles
  kLazyRescale = 8,  // the accumulator is rescaled only when a row's maximum has grown a lot
};

// A tile is 64 rows of Q for each consumer warpgroup and `keys` rows of K and V, `stages` of which are in
// flight (of Q: `query_stages`).
template <int kHeadDim, bool kCausal, int kKeys, int kGroups, int kStages, int kQueryStages,
          unsigned kIdeas>
struct Plan {
  static constexpr int head_dim = kHeadDim, keys = kKeys, groups = kGroups, stages = kStages,
                       query_stages = kQueryStages;
  static constexpr bool causal = kCausal;
  static constexpr bool overlap = kIdeas & kOverlap, ping_pong = kIdeas & kPingPong,
                        persistent = kIdeas & kPersistent, lazy_rescale = kIdeas & kLazyRescale;
  static constexpr int threads = (groups + 1) * 128;
  static constexpr int rows = groups * kGroupRows;
  static constexpr uint32_t query_bytes = kGroupRows * head_dim * 2;
  static constexpr uint32_t key_bytes = keys * head_dim * 2;
  static constexpr int barriers = 2 * (groups * query_stages + 2 * stages);
  static constexpr uint32_t shared_bytes =
      1024 + query_stages * groups * query_bytes + 2 * stages * key_bytes + 8 * barriers;
  static_assert(shared_bytes <= 227 * 1024);
};

// Addresses in shared memory.
template <class P>
struct Arena {
  uint32_t base, barrier_base;

  __device__ explicit Arena(const char* memory) {
    base = (shared_address(memory) + 1023) & ~1023u;
    barrier_base = base + P::query_stages * P::groups * P::query_bytes +
                   2 * P::stages * P::key_bytes;
  }
  __device__ uint32_t q(int stage, int group) const {
    return base + (stage * P::groups + group) * P::query_bytes;
  }
  __device__ uint32_t k(int stage) const {
    return base + P::query_stages * P::groups * P::query_bytes +
           stage * P::key_bytes;
  }
  __device__ uint32_t v(int stage) const { return k(P::stages + stage); }
  __device__ uint32_t k_full(int stage) const { return barrier_base + 8 * stage; }
  __device__ uint32_t k_empty(int stage) const { return k_full(P::stages + stage); }
  __device__ uint32_t v_full(int stage) const { return k_full(2 * P::stages + stage); }
  __device__ uint32_t v_empty(int stage) const { return k_full(3 * P::stages + stage); }
  __device__ uint32_t q_full(int stage, int group) const {
    return k_full(4 * P::stages + stage * P::groups + group);
  }
  __device__ uint32_t q_empty(int stage, int group) const {
    return q_full(P::query_stages + stage, group);
  }

  // A warp says once that it has read a tile: that is one arrival for each consumer warp.
  __device__ void init_barriers() const {
    for (int stage = 0; stage < P::stages; ++stage) {
      barrier_init(k_full(stage), 1);
      barrier_init(v_full(stage), 1);
      barrier_init(k_empty(stage), 4 * P::groups);
      barrier_init(v_empty(stage), 4 * P::groups);
    }
    for (int stage = 0; stage < P::query_stages; ++stage) {
      for (int group = 0; group < P::groups; ++group) {
        barrier_init(q_full(stage, group), 1);
        barrier_init(q_empty(stage, group), 4);
      }
    }
    barrier_init_fence();
  }
};

// Rows of one head, and the K/V tiles that they see.
struct Tile {
  int first_row, head, batch, key_tiles;
};

// Which tile this block works on in its nth turn; false after the last one. Persistent blocks take heads in
// groups that fit into L2, in each group the tiles with most keys first, and every other turn in reverse
// order, so that no block gets the larger tile of every turn.
template <class P>
__device__ inline bool find_tile(const HopperArguments& a, int turn, Tile& tile) {
  const int tiles = a.row_tiles * a.heads;
  int row_tile, head;
  if constexpr (P::persistent) {
    const int blocks = static_cast<int>(gridDim.x), block = static_cast<int>(blockIdx.x);
    const int index = turn * blocks + (turn % 2 == 0 ? block : blocks - 1 - block);
    if (index >= tiles) return false;
    const int group = index / (a.row_tiles * a.heads_at_once);
    const int inside = index - group * a.row_tiles * a.heads_at_once;
    const int first_head = group * a.heads_at_once;
    const int width = min(a.heads_at_once, a.heads - first_head);
    const int row = inside / width;
    row_tile = P::causal ? a.row_tiles - 1 - row : row;
    head = first_head + inside - row * width;
  } else {
    if (turn > 0) return false;
    const int index = static_cast<int>(blockIdx.x);
    head = index / a.row_tiles;
    row_tile = index - head * a.row_tiles;
  }
  tile.first_row = row_tile * P::rows;
  tile.batch = head / a.query_heads;
  tile.head = head - tile.batch * a.query_heads;
  const int keys = P::causal ? min(a.key_length, tile.first_row + P::rows) : a.key_length;
  tile.key_tiles = (keys + P::keys - 1) / P::keys;
  return true;
}

template <class P>
__device__ inline void produce(const HopperArguments& a, const CUtensorMap* q_map,
                               const CUtensorMap* k_map, const CUtensorMap* v_map,
                               const Arena<P>& arena) {
  RingPosition<P::stages> k, v;
  RingPosition<P::query_stages> q;
  Tile tile;
  for (int turn = 0; find_tile<P>(a, turn, tile); ++turn) {
    const int key_head = tile.head / a.heads_per_key_head;
    const auto load_k = [&](int n) {
      barrier_wait(arena.k_empty(k.stage), k.parity ^ 1);
      barrier_expect_bytes(arena.k_full(k.stage), P::key_bytes);
      load_tile(k_map, arena.k_full(k.stage), arena.k(k.stage), n * P::keys, key_head, tile.batch);
      k.advance();
    };
    const auto load_v = [&](int n) {
      barrier_wait(arena.v_empty(v.stage), v.parity ^ 1);
      barrier_expect_bytes(arena.v_full(v.stage), P::key_bytes);
      load_tile(v_map, arena.v_full(v.stage), arena.v(v.stage), n * P::keys, key_head, tile.batch);
      v.advance();
    };
    load_k(tile.key_tiles - 1);
#pragma unroll
    for (int group = 0; group < P::groups; ++group) {
      const uint32_t full = arena.q_full(q.stage, group);
      barrier_wait(arena.q_empty(q.stage, group), q.parity ^ 1);
      barrier_expect_bytes(full, P::query_bytes);
      load_tile(q_map, full, arena.q(q.stage, group), tile.first_row + group * kGroupRows,
                tile.head, tile.batch);
    }
    q.advance();
    for (int n = tile.key_tiles - 1; n > 0; --n) {
      load_k(n - 1);
      load_v(n);
    }
    load_v(0);
  }
}

template <class T, class P>
struct Consumer {
  const HopperArguments& a;
  const Arena<P>& arena;
  const int group;
  const bool first_lane = threadIdx.x % 32 == 0;
  RingPosition<P::stages> k, v;
  RingPosition<P::query_stages> q;
  float output[P::head_dim / 2];
  float scores[P::keys / 2];
  uint32_t probabilities[P::keys / 4];
  OnlineSoftmax softmax;
  int first_row;

  __device__ Consumer(const HopperArguments& arguments, const Arena<P>& memory, int own_group)
      : a(arguments), arena(memory), group(own_group) {}

  __device__ void release(uint32_t barrier) const {
    if (first_lane) barrier_arrive(barrier);
  }

  __device__ void start_scores() {
    barrier_wait(arena.k_full(k.stage), k.parity);
    take_turn();
    pin(scores);
    pin(output);
    pin(probabilities);
    products_begin();
    issue_scores<T, P::head_dim, P::keys>(scores, arena.q(q.stage, group), arena.k(k.stage));
    products_commit();
  }
  __device__ void scores_done() {
    pin(scores);
    release(arena.k_empty(k.stage));
    k.advance();
  }

  __device__ void start_output() {
    barrier_wait(arena.v_full(v.stage), v.parity);
    issue_output<T, P::head_dim, P::keys>(output, probabilities, arena.v(v.stage));
    products_commit();
  }
  __device__ void output_done() {
    pin(output);
    release(arena.v_empty(v.stage));
    v.advance();
  }

  // One warpgroup's products at a time: while they run, the others are at their softmax.
  bool turns = false;
  __device__ void take_turn() const {
    if (P::ping_pong && turns) named_barrier_sync(1 + group, 256);
  }
  __device__ void pass_turn() const {
    if (P::ping_pong) named_barrier_arrive(1 + (group + 1) % P::groups, 256);
  }

  template <bool kMasked>
  __device__ void mask(int n) {
    if (kMasked) {
      const int warp = static_cast<int>(threadIdx.x % 128 / 32);
      mask_scores<P::causal>(scores, n * P::keys, first_row + warp * 16, a.key_length);
    }
  }

  template <bool kMasked>
  __device__ void first_tile(int n) {
    turns = false;
    start_scores();
    products_wait<0>();
    scores_done();
    mask<kMasked>(n);
    float unused[2];
    softmax.step<kMasked>(scores, unused);
    pack_probabilities<T>(scores, probabilities);
    turns = true;
  }

  template <bool kMasked>
  __device__ void next_tile(int n) {
    float rescale[2];
    bool any = true;
    if constexpr (P::overlap) {
      start_scores();
      start_output();
      pass_turn();
      products_wait<1>();
      scores_done();
      mask<kMasked>(n);
      any = softmax_step<kMasked>(rescale);
      products_wait<0>();
      output_done();
    } else {
      pin(output);
      pin(probabilities);
      products_begin();
      start_output();
      products_wait<0>();
      output_done();
      start_scores();
      products_wait<0>();
      scores_done();
      mask<kMasked>(n);
      any = softmax_step<kMasked>(rescale);
    }
    if (any) rescale_rows(output, rescale);
    pack_probabilities<T>(scores, probabilities);
  }

  template <bool kMasked>
  __device__ bool softmax_step(float (&rescale)[2]) {
    if constexpr (P::lazy_rescale) {
      return softmax.lazy_step<kMasked>(scores, rescale);
    } else {
      softmax.step<kMasked>(scores, rescale);
      return true;
    }
  }

  __device__ void run_tile(const Tile& tile) {
    first_row = tile.first_row + group * kGroupRows;
    softmax = OnlineSoftmax{a.scale};
#pragma unroll
    for (float& value : output) value = 0.0f;
    barrier_wait(arena.q_full(q.stage, group), q.parity);

    // Tiles are taken from the last to the first: those that need a mask come first.
    int n = tile.key_tiles - 1;
    int first_masked = a.key_length % P::keys == 0 ? n + 1 : n;
    if (P::causal) first_masked = min(first_masked, (first_row + 1) / P::keys);
    first_tile<true>(n--);
    for (; n >= max(first_masked, 0); --n) next_tile<true>(n);
    for (; n >= 0; --n) next_tile<false>(n);
    release(arena.q_empty(q.stage, group));
    q.advance();

    pin(output);
    pin(probabilities);
    products_begin();
    start_output();
    float factor[2];
    softmax.finish(factor);
    products_wait<0>();
    output_done();
    store(tile, factor);
  }

  __device__ void store(const Tile& tile, const float (&factor)[2]) const {
    const int row = first_row + static_cast<int>(threadIdx.x % 128 / 32) * 16;
    T* rows = static_cast<T*>(a.o) + tile.batch * a.o_strides.batch + tile.head * a.o_strides.head +
              row * a.o_strides.row;
    store_rows(output, factor, rows, a.o_strides.row, a.query_length - row);
  }
};

template <class T, class P>
__global__ void __launch_bounds__(P::threads, 1)
    specialised_kernel(const __grid_constant__ HopperArguments a,
                       const __grid_constant__ CUtensorMap q_map,
                       const __grid_constant__ CUtensorMap k_map,
                       const __grid_constant__ CUtensorMap v_map) {
  extern __shared__ char memory[];
  const Arena<P> arena(memory);
  if (threadIdx.x == 0) {
    prefetch_tensor_map(&q_map);
    prefetch_tensor_map(&k_map);
    prefetch_tensor_map(&v_map);
    arena.init_barriers();
  }
  __syncthreads();
  // The same for a warp's lanes, and known to be: descriptors then stay in uniform registers.
  const int group = __shfl_sync(0xffffffff, static_cast<int>(threadIdx.x / 128), 0) - 1;
  if (group < 0) {
    give_registers<P::groups == 2 ? 24 : 32>();
    if (threadIdx.x == 0) produce<P>(a, &q_map, &k_map, &v_map, arena);
  } else {
    take_registers<P::groups == 2 ? 240 : 160>();
    Consumer<T, P> consumer(a, arena, group);
    if (P::ping_pong && group == P::groups - 1) consumer.pass_turn();
    Tile tile;
    for (int turn = 0; find_tile<P>(a, turn, tile); ++turn) consumer.run_tile(tile);
  }
}

template <class T, class P>
cudaError_t launch_specialised(const FathomAttention& attention) {
  HopperArguments a{};
  a.o = attention.o;
  a.o_strides = attention.o_strides;
  a.query_heads = attention.query_heads;
  a.heads_per_key_head = attention.query_heads / attention.key_heads;
  a.query_length = attention.query_length;
  a.key_length = attention.key_length;
  a.scale = exp2_scale(attention);
  a.row_tiles = divide_up(attention.query_length, P::rows);
  a.heads = attention.batch * attention.query_heads;

  CUtensorMap q_map, k_map, v_map;
  cudaError_t error = make_tensor_map(&q_map, attention.q, attention.q_strides, attention,
                                      attention.query_heads, attention.query_length, kGroupRows);
  if (error != cudaSuccess) return error;
  error = make_tensor_map(&k_map, attention.k, attention.k_strides, attention, attention.key_heads,
                          attention.key_length, P::keys);
  if (error != cudaSuccess) return error;
  error = make_tensor_map(&v_map, attention.v, attention.v_strides, attention, attention.key_heads,
                          attention.key_length, P::keys);
  if (error != cudaSuccess) return error;

  const auto kernel = specialised_kernel<T, P>;
  error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(P::shared_bytes));
  if (error != cudaSuccess) return error;
  int blocks = a.row_tiles * a.heads;
  if (P::persistent) {
    int device = 0, multiprocessors = 0;
    cudaGetDevice(&device);
    error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (error != cudaSuccess) return error;
    blocks = min(blocks, multiprocessors);
    // K and V of so many heads fill about half of a 50 MB L2.
    const int64_t head_bytes = int64_t{4} * attention.key_length * attention.head_dim;
    const int64_t key_heads = (int64_t{24} << 20) / head_bytes;
    const int64_t heads = max(int64_t{1}, key_heads) * a.heads_per_key_head;
    a.heads_at_once = P::causal ? static_cast<int>(min(int64_t{a.heads}, heads)) : 1;
  }
  kernel<<<blocks, P::threads, P::shared_bytes,
           static_cast<cudaStream_t>(attention.stream)>>>(a, q_map, k_map, v_map);
  return cudaGetLastError();
}

// Calls launch_specialised for the element type.
template <class P>
cudaError_t launch_plan(const FathomAttention& attention) {
  return attention.element_type == FATHOM_BFLOAT16
             ? launch_specialised<__nv_bfloat16, P>(attention)
             : launch_specialised<__half, P>(attention);
}

}  // namespace fathom::attention
