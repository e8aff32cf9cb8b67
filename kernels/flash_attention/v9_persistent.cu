#include "hopper_specialised.cuh"

namespace fathom::attention {

cudaError_t launch_v9(const FathomAttention& attention) {
  return launch_plan<Plan<128, false, 128, 2, 2, 1, kOverlap|kPingPong|kPersistent>>(attention);
}

}  // namespace fathom::attention
