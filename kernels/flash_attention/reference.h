// Attention in double precision on the CPU, one query row at a time: what the kernels are checked
// against.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fathom::attention {

struct ReferenceShape {
  int64_t batch = 0, query_heads = 0, key_heads = 0, query_length = 0, key_length = 0, head_dim = 0;
  bool causal = false;
  double scale = 1.0;
};

// All tensors are (batch, heads, rows, head_dim) without gaps. A query that sees no key gives
// zeros.
std::vector<double> attend_reference(const ReferenceShape& shape, std::span<const float> q,
                                     std::span<const float> k, std::span<const float> v);

}  // namespace fathom::attention
