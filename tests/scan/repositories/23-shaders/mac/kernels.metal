#include <metal_stdlib>
using namespace metal;

namespace detail {
inline float helper(float x) { return x; }
}

template <typename T>
kernel void copy(device const T* src [[buffer(0)]],
                 device T* dst [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) {
  dst[i] = detail::helper(src[i]);
}

typedef decltype(copy<float>) copy_t;
template [[host_name("copy_f32")]] kernel copy_t copy<float>;

[[kernel, max_total_threads_per_threadgroup(256)]] void add(device float* x) { x[0] = 1; }

vertex float4 corner() { float kernel = 1; return kernel; }
