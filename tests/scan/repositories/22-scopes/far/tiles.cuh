#pragma once
namespace shop {
namespace wide {
template <typename T>
__global__ void kernel(T* p) { p[threadIdx.x] = 3; }
}  // namespace wide
namespace narrow {
template <typename T>
__global__ void kernel(T* p) { p[threadIdx.x] = 4; }
}  // namespace narrow
}  // namespace shop
