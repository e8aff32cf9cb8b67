// The CPU reference that the CUDA kernels are checked against, itself checked against the plain
// formula.
#include <cmath>
#include <random>
#include <vector>

#include "checks.h"
#include "reference.h"

namespace fathom::attention {
namespace {

std::vector<float> random_values(std::mt19937& random, int64_t count) {
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = normal(random);
  return values;
}

// Σⱼ e^(scale·q·kⱼ) vⱼ / Σⱼ e^(scale·q·kⱼ) for one element, in long double and without any maximum.
double naive_element(const ReferenceShape& shape, const std::vector<float>& q,
                     const std::vector<float>& k, const std::vector<float>& v, int64_t batch,
                     int64_t head, int64_t row, int64_t d) {
  const auto at = [&](const std::vector<float>& tensor, int64_t heads, int64_t length, int64_t h,
                      int64_t r, int64_t e) {
    return static_cast<long double>(
        tensor[static_cast<size_t>(((batch * heads + h) * length + r) * shape.head_dim + e)]);
  };
  const int64_t key_head = head / (shape.query_heads / shape.key_heads);
  long double above = 0.0L, below = 0.0L;
  for (int64_t key = 0; key < shape.key_length; ++key) {
    if (shape.causal && key > row) continue;
    long double score = 0.0L;
    for (int64_t e = 0; e < shape.head_dim; ++e) {
      score += at(q, shape.query_heads, shape.query_length, head, row, e) *
               at(k, shape.key_heads, shape.key_length, key_head, key, e);
    }
    const long double weight = std::exp(static_cast<long double>(shape.scale) * score);
    above += weight * at(v, shape.key_heads, shape.key_length, key_head, key, d);
    below += weight;
  }
  return static_cast<double>(above / below);
}

void expect_naive(const ReferenceShape& shape) {
  std::mt19937 random(20261115);
  const auto q =
      random_values(random, shape.batch * shape.query_heads * shape.query_length * shape.head_dim);
  const int64_t key_count = shape.batch * shape.key_heads * shape.key_length * shape.head_dim;
  const auto k = random_values(random, key_count), v = random_values(random, key_count);
  const std::vector<double> out = attend_reference(shape, q, k, v);
  ASSERT_EQ(out.size(), q.size());
  size_t i = 0;
  for (int64_t batch = 0; batch < shape.batch; ++batch) {
    for (int64_t head = 0; head < shape.query_heads; ++head) {
      for (int64_t row = 0; row < shape.query_length; ++row) {
        for (int64_t d = 0; d < shape.head_dim; ++d, ++i) {
          ASSERT_NEAR(out[i], naive_element(shape, q, k, v, batch, head, row, d), 1e-12)
              << "batch " << batch << " head " << head << " row " << row << " d " << d;
        }
      }
    }
  }
}

TEST(FlashAttentionReference, IsTheFormula) { expect_naive({2, 2, 2, 5, 7, 8, false, 0.35}); }

TEST(FlashAttentionReference, CausalHidesKeysAfterTheQuery) {
  expect_naive({2, 2, 2, 7, 7, 8, true, 0.35});
  expect_naive({1, 1, 1, 3, 9, 4, true, 0.5});  // more keys than queries: the last are never seen
  expect_naive({1, 1, 1, 9, 3, 4, true, 0.5});
}

TEST(FlashAttentionReference, QueryHeadsShareKeyHeads) {
  expect_naive({2, 6, 2, 4, 5, 8, false, 0.35});
  expect_naive({2, 4, 1, 4, 5, 8, true, 0.35});
}

TEST(FlashAttentionReference, OneQueryTwoKeysByHand) {
  // Scores 0 and ln 3: weights 1/4 and 3/4.
  const ReferenceShape shape{1, 1, 1, 1, 2, 1, false, 1.0};
  const std::vector<float> q{1.0f}, k{0.0f, std::log(3.0f)}, v{8.0f, 4.0f};
  EXPECT_NEAR(attend_reference(shape, q, k, v)[0], 5.0, 1e-6);
}

TEST(FlashAttentionReference, LargeScoresDoNotOverflow) {
  const ReferenceShape shape{1, 1, 1, 1, 2, 1, false, 1.0};
  const std::vector<float> q{100.0f}, k{100.0f, 99.0f}, v{1.0f, 2.0f};
  EXPECT_NEAR(attend_reference(shape, q, k, v)[0], 1.0, 1e-12);
}

TEST(FlashAttentionReference, NoKeysGiveZeros) {
  const ReferenceShape shape{1, 1, 1, 2, 0, 2, false, 1.0};
  const std::vector<float> q{1.0f, 2.0f, 3.0f, 4.0f};
  EXPECT_EQ(attend_reference(shape, q, {}, {}), (std::vector<double>{0.0, 0.0, 0.0, 0.0}));
}

}  // namespace
}  // namespace fathom::attention
