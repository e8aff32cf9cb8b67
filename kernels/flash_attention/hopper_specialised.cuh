// The kernel of the rungs v7 to v10: one producer warp copies tiles with TMA, two or three consumer
// warpgroups of 64 rows each compute. Plan says which of the rungs' ideas are switched on.
#pragma once

#include "tile_order.cuh"

namespace fathom::attention {

template <class P>
struct Producer {
  const HopperArguments& a;
  const CUtensorMap *q_map, *k_map, *v_map;
  const Arena<P>& arena;
  RingPosition<P::stages> k, v;
  RingPosition<P::query_stages> q;
  RingPosition<P::orders> order;

  __device__ void run() {
    const int tiles = a.row_tiles * a.heads;
    TileOrders orders{a};
    int index = orders.next();
    while (index < tiles) {
      publish(index);
      const int following =
          P::persistent ? orders.next() : tiles;  // asked for early: it takes a while
      load(find_tile<P>(a, index));
      index = following;
    }
    if (P::persistent) {
      publish(-1);
      orders.finish();
    }
  }

  __device__ void publish(int index) {
    if (!P::persistent) return;
    barrier_wait(arena.order_empty(order.stage), order.parity ^ 1);
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(arena.order(order.stage)), "r"(index) : "memory");
    barrier_arrive(arena.order_full(order.stage));
    order.advance();
  }

  __device__ void load(const Tile& tile) {
    load_k(tile, tile.key_tiles - 1);
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
      load_k(tile, n - 1);
      load_v(tile, n);
    }
    load_v(tile, 0);
  }
  __device__ void load_k(const Tile& tile, int n) {
    barrier_wait(arena.k_empty(k.stage), k.parity ^ 1);
    barrier_expect_bytes(arena.k_full(k.stage), P::key_bytes);
    load_tile(k_map, arena.k_full(k.stage), arena.k(k.stage), n * P::keys,
              tile.head / a.heads_per_key_head, tile.batch);
    k.advance();
  }
  __device__ void load_v(const Tile& tile, int n) {
    barrier_wait(arena.v_empty(v.stage), v.parity ^ 1);
    barrier_expect_bytes(arena.v_full(v.stage), P::key_bytes);
    load_tile(v_map, arena.v_full(v.stage), arena.v(v.stage), n * P::keys,
              tile.head / a.heads_per_key_head, tile.batch);
    v.advance();
  }
};

template <class T, class P>
struct Consumer {
  const HopperArguments& a;
  const CUtensorMap* o_map;
  const Arena<P>& arena;
  const int group;
  const int warp_row = static_cast<int>(threadIdx.x % 128 / 32) * 16;
  const bool first_lane = threadIdx.x % 32 == 0;
  RingPosition<P::stages> k, v;
  RingPosition<P::query_stages> q;
  RingPosition<P::orders> order;
  float output[P::head_dim / 2];
  float scores[P::keys / 2];
  uint32_t probabilities[P::keys / 4];
  OnlineSoftmax softmax;

  __device__ Consumer(const HopperArguments& arguments, const CUtensorMap* map,
                      const Arena<P>& memory, int own_group)
      : a(arguments), o_map(map), arena(memory), group(own_group) {}

  __device__ void release(uint32_t barrier) const {
    if (first_lane) barrier_arrive(barrier);
  }

  // One warpgroup's products at a time: while they run, the others are at their softmax.
  __device__ void take_turn() const {
    if (P::ping_pong) named_barrier_sync(1 + group, 256);
  }
  __device__ void pass_turn() const {
    if (P::ping_pong) named_barrier_arrive(1 + (group + 1) % P::groups, 256);
  }

  template <bool kTurn>
  __device__ void start_scores() {
    barrier_wait(arena.k_full(k.stage), k.parity);
    if (kTurn) take_turn();
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
    pin(output);
    pin(probabilities);
    products_begin();
    issue_output<T, P::head_dim, P::keys>(output, probabilities, arena.v(v.stage));
    products_commit();
  }
  __device__ void output_done() {
    pin(output);
    release(arena.v_empty(v.stage));
    v.advance();
  }

  template <bool kMasked>
  __device__ void softmax_step(const Tile& tile, int n, float (&rescale)[2]) {
    if (kMasked) {
      mask_scores<P::causal>(scores, n * P::keys, tile.first_row + group * kGroupRows + warp_row,
                             a.key_length);
    }
    softmax.step<kMasked>(scores, rescale);
  }

  template <bool kMasked>
  __device__ void first_step(const Tile& tile, int n) {
    start_scores<false>();
    products_wait<0>();
    scores_done();
    softmax = OnlineSoftmax{a.scale};
    float unused[2];
    softmax_step<kMasked>(tile, n, unused);
    pack_probabilities<T>(scores, probabilities);
#pragma unroll
    for (float& value : output) value = 0.0f;
  }

  template <bool kMasked>
  __device__ void next_step(const Tile& tile, int n) {
    float rescale[2];
    if constexpr (P::overlap) {
      start_scores<true>();
      start_output();
      pass_turn();
      products_wait<1>();
      scores_done();
      softmax_step<kMasked>(tile, n, rescale);
      products_wait<0>();
      output_done();
    } else {
      start_output();
      products_wait<0>();
      output_done();
      start_scores<false>();
      products_wait<0>();
      scores_done();
      softmax_step<kMasked>(tile, n, rescale);
    }
    rescale_rows(output, rescale);
    pack_probabilities<T>(scores, probabilities);
  }

  // Tiles of keys are taken from the last to the first: those that need a mask come first.
  __device__ void run_tile(const Tile& tile) {
    const int first_row = tile.first_row + group * kGroupRows;
    barrier_wait(arena.q_full(q.stage, group), q.parity);
    int n = tile.key_tiles - 1;
    if (P::causal || a.key_length % P::keys != 0) {
      first_step<true>(tile, n);
    } else {
      first_step<false>(tile, n);
    }
    const int first_masked = P::causal ? (first_row + 1) / P::keys : tile.key_tiles;
    for (--n; n >= first_masked; --n) next_step<true>(tile, n);
    for (; n >= 0; --n) next_step<false>(tile, n);
    release(arena.q_empty(q.stage, group));
    q.advance();
    finish_tile(tile);
  }

  __device__ void finish_tile(const Tile& tile) {
    start_output();
    float factor[2];
    softmax.finish(factor);
    products_wait<0>();
    output_done();
    store(tile, factor);
  }

  __device__ void store(const Tile& tile, const float (&factor)[2]) const {
    const int row = tile.first_row + group * kGroupRows + warp_row;
    if constexpr (P::bulk_store) {
      const uint32_t staged = arena.o(group) + warp_row * P::head_dim * 2;
      if (first_lane) store_sources_read();
      __syncwarp();
      stage_rows<T, P::head_dim>(output, factor, staged);
      shared_writes_done();
      __syncwarp();
      if (first_lane && row < a.query_length) store_tile(o_map, staged, row, tile.head, tile.batch);
    } else {
      T* rows = static_cast<T*>(a.o) + tile.batch * a.o_strides.batch +
                tile.head * a.o_strides.head + row * a.o_strides.row;
      store_rows(output, factor, rows, a.o_strides.row, a.query_length - row);
    }
  }

  // False: no tile is left.
  __device__ bool receive(Tile& tile) {
    barrier_wait(arena.order_full(order.stage), order.parity);
    int index;
    asm volatile("ld.shared.b32 %0, [%1];"
                 : "=r"(index)
                 : "r"(arena.order(order.stage))
                 : "memory");
    __syncwarp();
    release(arena.order_empty(order.stage));
    order.advance();
    index = __shfl_sync(0xffffffff, index, 0);
    if (index < 0) return false;
    tile = find_tile<P>(a, index);
    return true;
  }

  __device__ void run() {
    if (P::ping_pong && group == P::groups - 1) pass_turn();
    Tile tile;
    if constexpr (P::persistent) {
      while (receive(tile)) run_tile(tile);
    } else {
      run_tile(find_tile<P>(a, static_cast<int>(blockIdx.x)));
    }
    if (P::bulk_store && first_lane) store_sources_read();  // shared memory goes with the block
  }
};

template <class T, class P>
__global__ void __launch_bounds__(P::threads, 1)
    specialised_kernel(const __grid_constant__ HopperArguments a,
                       const __grid_constant__ CUtensorMap q_map,
                       const __grid_constant__ CUtensorMap k_map,
                       const __grid_constant__ CUtensorMap v_map,
                       const __grid_constant__ CUtensorMap o_map) {
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
    give_registers<P::groups == 2 ? 40 : 32>();
    if (threadIdx.x == 0) Producer<P>{a, &q_map, &k_map, &v_map, arena}.run();
  } else {
    take_registers<P::groups == 2 ? 232 : 160>();
    Consumer<T, P>(a, &o_map, arena, group).run();
  }
}

inline cudaError_t count_multiprocessors(int& count) {
  int device = 0;
  const cudaError_t error = cudaGetDevice(&device);
  if (error != cudaSuccess) return error;
  return cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
}

template <class T, class P>
cudaError_t launch_specialised(const FathomAttention& attention) {
  HopperArguments a = make_arguments(attention, P::rows);
  a.claimed = static_cast<unsigned*>(attention.workspace);

  CUtensorMap q_map, k_map, v_map, o_map;
  cudaError_t error = make_tensor_map(&q_map, attention.q, attention.q_strides, attention,
                                      attention.query_heads, attention.query_length, kGroupRows);
  if (error != cudaSuccess) return error;
  error = make_tensor_map(&k_map, attention.k, attention.k_strides, attention, attention.key_heads,
                          attention.key_length, P::keys);
  if (error != cudaSuccess) return error;
  error = make_tensor_map(&v_map, attention.v, attention.v_strides, attention, attention.key_heads,
                          attention.key_length, P::keys);
  if (error != cudaSuccess) return error;

  error = make_tensor_map(&o_map, attention.o, attention.o_strides, attention,
                          attention.query_heads, attention.query_length, 16);
  if (error != cudaSuccess) return error;

  const auto kernel = specialised_kernel<T, P>;
  error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(P::shared_bytes));
  if (error != cudaSuccess) return error;
  int blocks = a.row_tiles * a.heads;
  if (P::persistent) {
    int multiprocessors = 0;
    error = count_multiprocessors(multiprocessors);
    if (error != cudaSuccess) return error;
    blocks = min(blocks, multiprocessors);
    a.heads_at_once = 1;
    a.tail_head = a.heads;
    if (P::causal) choose_causal_order(attention, a);
  }
  kernel<<<blocks, P::threads, P::shared_bytes, static_cast<cudaStream_t>(attention.stream)>>>(
      a, q_map, k_map, v_map, o_map);
  return cudaGetLastError();
}

}  // namespace fathom::attention
