// v9: v8 with one block for each SM, which takes tile after tile, the largest first.
#include "hopper_specialised.cuh"

namespace fathom::attention {

cudaError_t launch_v9(const FathomAttention& attention) {
  return for_type_dim_mask(attention, [&](auto type, auto dim, auto causal) {
    return launch_specialised<decltype(type),
                              Plan<dim, causal, 128, 2, 2, 1, kOverlap | kPingPong | kPersistent>>(
        attention);
  });
}

}  // namespace fathom::attention
