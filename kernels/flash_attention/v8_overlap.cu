// v8: v7 with the scores of the next tile multiplied during the softmax of this one, and warpgroups
// that take turns at the tensor cores.
#include "hopper_specialised.cuh"

namespace fathom::attention {

cudaError_t launch_v8(const FathomAttention& attention) {
  return for_type_dim_mask(attention, [&](auto type, auto dim, auto causal) {
    return launch_specialised<decltype(type),
                              Plan<dim, causal, 128, 2, 2, 1, kOverlap | kPingPong>>(attention);
  });
}

}  // namespace fathom::attention
