#include <iterator>

#include "attention.h"
#include "launch.h"

namespace fathom::attention {
namespace {

using Launch = cudaError_t (*)(const FathomAttention&);
constexpr Launch kVersions[] = {launch_v0, launch_v1, launch_v2, launch_v3, launch_v4, launch_v5,
                                launch_v6, launch_v7, launch_v8, launch_v9, launch_v10};
constexpr int kVersionCount = static_cast<int>(std::size(kVersions));

bool aligned(const void* data, const FathomTensorStrides& strides) {
  return reinterpret_cast<uintptr_t>(data) % 16 == 0 && strides.batch % 8 == 0 &&
         strides.head % 8 == 0 && strides.row % 8 == 0;
}

bool valid(const FathomAttention& a) {
  if (a.batch < 0 || a.query_heads < 0 || a.query_length < 0 || a.key_length < 0) return false;
  if (a.key_heads <= 0 || a.query_heads % a.key_heads != 0) return false;
  if (a.head_dim != 64 && a.head_dim != 128) return false;
  if (a.element_type != FATHOM_FLOAT16 && a.element_type != FATHOM_BFLOAT16) return false;
  if (a.version < -1 || a.version >= kVersionCount) return false;
  if (!(a.scale > 0.0f)) return false;  // −∞ · scale has to stay −∞
  return aligned(a.q, a.q_strides) && aligned(a.k, a.k_strides) && aligned(a.v, a.v_strides) &&
         aligned(a.o, a.o_strides);
}

// The newest rung that this GPU can run: those after v5 are Hopper's.
cudaError_t newest_version(int& version) {
  int device = 0, major = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error != cudaSuccess) return error;
  error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  version = major == 9 ? kVersionCount - 1 : 5;
  return error;
}

__global__ void zero_rows(uint4* o, FathomTensorStrides strides, int heads, int length, int words) {
  const int row = static_cast<int>(blockIdx.x) % length;
  const int head = static_cast<int>(blockIdx.x) / length % heads;
  const int batch = static_cast<int>(blockIdx.x) / length / heads;
  const int64_t offset = batch * strides.batch + head * strides.head + row * strides.row;
  if (threadIdx.x < words) o[offset / 8 + threadIdx.x] = uint4{};
}

}  // namespace
}  // namespace fathom::attention

int fathom_flash_attention_forward(const FathomAttention* attention) {
  using namespace fathom::attention;
  const FathomAttention& a = *attention;
  if (!valid(a)) return cudaErrorInvalidValue;
  if (a.batch == 0 || a.query_heads == 0 || a.query_length == 0) return cudaSuccess;
  if (a.key_length == 0) {
    zero_rows<<<a.batch * a.query_heads * a.query_length, 32, 0,
                static_cast<cudaStream_t>(a.stream)>>>(
        static_cast<uint4*>(a.o), a.o_strides, a.query_heads, a.query_length, a.head_dim / 8);
    return cudaGetLastError();
  }
  int version = a.version;
  if (version < 0) {
    const cudaError_t error = newest_version(version);
    if (error != cudaSuccess) return error;
  }
  return kVersions[version](a);
}

const char* fathom_flash_attention_error(int error) {
  return cudaGetErrorString(static_cast<cudaError_t>(error));
}
