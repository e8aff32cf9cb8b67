#ifndef ACME_LAUNCH_CONFIG_HPP
#define ACME_LAUNCH_CONFIG_HPP
#include <cuda_runtime.h>

namespace acme
{
inline int CeilDiv(int64_t a, int64_t b) { return static_cast<int>((a + b - 1) / b); }
constexpr int DEFAULT_BLOCK = 256;
}  // namespace acme
#endif
