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
  return launch_specialised<T, Plan<128, kCausal, 128, 2, 2, 2, kIdeas>>(attention);
}

template <class T, bool kCausal>
cudaError_t launch_64(const FathomAttention& attention) {
  if (attention.query_length < (kCausal ? 2048 : 512)) {
    return launch_specialised<T, Plan<64, kCausal, 128, 2, 4, 2, kIdeas>>(attention);
  }
  return launch_specialised<T, Plan<64, kCausal, 128, 3, 3, 2, kIdeas>>(attention);
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
