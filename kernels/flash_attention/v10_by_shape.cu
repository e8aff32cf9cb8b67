// v10: v9 with rows of O leaving through shared memory and the copy engine, and tiles chosen by
// shape: short sequences are bound by memory and want many small tiles in flight, long ones want
// large tiles.
#include "hopper_specialised.cuh"

namespace fathom::attention {
namespace {

constexpr unsigned kIdeas = kOverlap | kPingPong | kPersistent | kBulkStore;

// Measured on an H200; NOTES.md has what else was tried.
template <class T, bool kCausal>
cudaError_t launch_128(const FathomAttention& attention) {
  if (attention.key_length >= 8192) {
    return launch_specialised<T, Plan<128, kCausal, 160, 2, 2, 1, kIdeas>>(attention);
  }
  if (attention.key_length <= 128) {
    return launch_specialised<T, Plan<128, kCausal, 128, 2, 2, 1, kIdeas>>(attention);
  }
  return launch_specialised<T, Plan<128, kCausal, 128, 2, 2, 2, kIdeas>>(attention);
}

// Whether tiles of three warpgroups are done sooner than those of two. They take about 1.25 times
// as long for 1.5 times the rows, but few tiles may not fill the turns that the SMs take over them.
bool three_groups_pay(const FathomAttention& attention, int multiprocessors) {
  const int64_t heads = int64_t{attention.batch} * attention.query_heads;
  const auto turns = [&](int groups) {
    const int64_t rows = groups * kGroupRows;
    const int64_t tiles = heads * ((attention.query_length + rows - 1) / rows);
    return (tiles + multiprocessors - 1) / multiprocessors;
  };
  return 5 * turns(3) < 4 * turns(2);
}

template <class T, bool kCausal>
cudaError_t launch_64(const FathomAttention& attention) {
  // One or two tiles of keys: a third Q on its way helps, and with a mask the warpgroups' tiles are
  // too unlike to take turns.
  if (attention.key_length <= 256) {
    if constexpr (kCausal) {
      return launch_specialised<T, Plan<64, kCausal, 128, 2, 4, 3, kIdeas & ~kPingPong>>(attention);
    } else if (attention.key_length > 128) {
      return launch_specialised<T, Plan<64, kCausal, 128, 2, 3, 3, kIdeas>>(attention);
    }
  }
  int multiprocessors = 0;
  const cudaError_t error = count_multiprocessors(multiprocessors);
  if (error != cudaSuccess) return error;
  if (attention.query_length >= (kCausal ? 2048 : 512) &&
      three_groups_pay(attention, multiprocessors)) {
    return launch_specialised<T, Plan<64, kCausal, 128, 3, 3, 2, kIdeas>>(attention);
  }
  return launch_specialised<T, Plan<64, kCausal, 128, 2, 4, 2, kIdeas>>(attention);
}

}  // namespace

cudaError_t launch_v10(const FathomAttention& attention) {
  return for_type_dim_mask(attention, [&](auto type, auto dim, auto causal) {
    if constexpr (dim == 64) {
      return launch_64<decltype(type), causal>(attention);
    } else {
      return launch_128<decltype(type), causal>(attention);
    }
  });
}

}  // namespace fathom::attention
