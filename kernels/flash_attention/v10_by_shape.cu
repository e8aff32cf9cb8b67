#include "hopper_specialised.cuh"

namespace fathom::attention {

cudaError_t launch_v10(const FathomAttention& attention) { return cudaErrorNotSupported; }

}  // namespace fathom::attention
