#include "reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fathom::attention {

namespace {

// One query against the first `keys` rows of K and V; `weights` is scratch.
void attend_row(std::span<const float> query, const float* k, const float* v, int64_t keys,
                double scale, std::vector<double>& weights, std::span<double> out) {
  const size_t dim = query.size();
  weights.assign(static_cast<size_t>(keys), 0.0);
  double highest = -std::numeric_limits<double>::infinity();
  for (int64_t key = 0; key < keys; ++key) {
    double score = 0.0;
    for (size_t d = 0; d < dim; ++d) {
      score += double{query[d]} * double{k[static_cast<size_t>(key) * dim + d]};
    }
    weights[static_cast<size_t>(key)] = score * scale;
    highest = std::max(highest, score * scale);
  }
  double sum = 0.0;
  for (double& weight : weights) {
    weight = std::exp(weight - highest);
    sum += weight;
  }
  for (int64_t key = 0; key < keys; ++key) {
    const double weight = weights[static_cast<size_t>(key)] / sum;
    for (size_t d = 0; d < dim; ++d) {
      out[d] += weight * double{v[static_cast<size_t>(key) * dim + d]};
    }
  }
}

}  // namespace

std::vector<double> attend_reference(const ReferenceShape& shape, std::span<const float> q,
                                     std::span<const float> k, std::span<const float> v) {
  const auto dim = static_cast<size_t>(shape.head_dim);
  std::vector<double> out(
      static_cast<size_t>(shape.batch * shape.query_heads * shape.query_length) * dim);
  std::vector<double> weights;
  for (int64_t head = 0; head < shape.batch * shape.query_heads; ++head) {
    const int64_t batch = head / shape.query_heads;
    const int64_t key_head =
        batch * shape.key_heads + head % shape.query_heads / (shape.query_heads / shape.key_heads);
    const size_t key_offset = static_cast<size_t>(key_head * shape.key_length) * dim;
    for (int64_t row = 0; row < shape.query_length; ++row) {
      const size_t offset = static_cast<size_t>(head * shape.query_length + row) * dim;
      const int64_t keys = shape.causal ? std::min(shape.key_length, row + 1) : shape.key_length;
      attend_row(q.subspan(offset, dim), k.data() + key_offset, v.data() + key_offset, keys,
                 shape.scale, weights, std::span(out).subspan(offset, dim));
    }
  }
  return out;
}

}  // namespace fathom::attention
