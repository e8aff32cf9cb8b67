// v7: v6 with roles: a producer warp that only copies, two consumer warpgroups with its registers.
#include "hopper_specialised.cuh"

namespace fathom::attention {

cudaError_t launch_v7(const FathomAttention& attention) {
  return for_type_dim_mask(attention, [&](auto type, auto dim, auto causal) {
    return launch_specialised<decltype(type), Plan<dim, causal, 128, 2, 2, 1, 0>>(attention);
  });
}

}  // namespace fathom::attention
