#include "checks.h"
#include "unit/cost_calls.h"

namespace fathom {
namespace {

using test::Around;
using test::cost;
using test::gradient_cost;
using test::kBf16;
using test::kByte;
using test::kFp32;
using test::kFp8;
using test::kInt32;
using test::none;
using test::number;
using test::param;
using test::tensor;

// Batch 2, 4 heads, widths 8: [B, H, S, D]
std::vector<ArgValue> attention(int64_t queries, int64_t keys, const char* causal,
                                int64_t kv_heads = 4) {
  return {tensor({2, 4, queries, 8}), tensor({2, kv_heads, keys, 8}),
          tensor({2, kv_heads, keys, 8}), number("0."), number(causal)};
}
constexpr std::string_view kFlash = "aten::_scaled_dot_product_flash_attention";

TEST(AttentionCost, TwoProductsForEachPair) {
  // 2 · B·H·Nq·Nk · (8 + 8) = 2 · 2·4·6·6 · 16; Q, K, V and O each 2·4·6·8 = 384 elements
  const auto found = cost(kFlash, attention(6, 6, "False"));
  EXPECT_COST(found, 2 * 288 * 16, 4 * 384 * 2);
  EXPECT_EQ(found->spec, "matrix_bf16");
  EXPECT_EQ(param(*found, "flash_impl"), "true");
}

TEST(AttentionCost, ACausalMaskLeavesHalf) {
  EXPECT_COST(cost(kFlash, attention(6, 6, "True")), 288 * 16, 4 * 384 * 2);
}

TEST(AttentionCost, ACausalMaskOfOtherLengthsBeginsAtTheFirst) {
  // 4 queries, 6 keys: 4²/2 pairs; 6 queries, 4 keys: 4²/2 + 2·4
  EXPECT_COST(cost(kFlash, attention(4, 6, "True")), 2 * 8 * 8 * 16,
              (2 * 4 * 4 * 8 * 2 + 2 * 4 * 6 * 8 * 2) * 2);
  EXPECT_COST(cost(kFlash, attention(6, 4, "True")), 2 * 8 * 16 * 16,
              (2 * 4 * 4 * 8 * 2 + 2 * 4 * 6 * 8 * 2) * 2);
}

TEST(AttentionCost, InFlashAttnItEndsAtTheLast) {
  const auto flash = [](int64_t queries, int64_t keys) {
    return cost("flash_attn::_flash_attn_forward",
                {tensor({2, queries, 4, 8}), tensor({2, keys, 4, 8}), tensor({2, keys, 4, 8}),
                 number("0."), number("0.1"), number("True")});
  };
  // 4 queries see 2, and half of 4 keys: 4·2 + 4²/2; of 6 queries the last 4 see half of 4
  EXPECT_COST(flash(4, 6), 2 * 8 * 16 * 16, (2 * 4 * 4 * 8 * 2 + 2 * 4 * 6 * 8 * 2) * 2);
  EXPECT_COST(flash(6, 4), 2 * 8 * 8 * 16, (2 * 4 * 4 * 8 * 2 + 2 * 4 * 6 * 8 * 2) * 2);
}

TEST(AttentionCost, FewerHeadsOfKeysAreReadOnce) {
  // Queries' heads do the arithmetic; K and V have 2 · 2·6·8 elements
  EXPECT_COST(cost(kFlash, attention(6, 6, "False", 2)), 2 * 288 * 16, (2 * 384 + 2 * 192) * 2);
  // The same heads repeated by a stride of 0
  std::vector<ArgValue> args = attention(6, 6, "False");
  args[1] = tensor({2, 4, 6, 8}, kBf16, {48, 0, 8, 1});
  EXPECT_COST(cost(kFlash, args), 2 * 288 * 16, (3 * 384 + 96) * 2);
}

TEST(AttentionCost, ElementsAreAsWideAsTheyAre) {
  std::vector<ArgValue> args = attention(6, 6, "False");
  for (int i = 0; i < 3; ++i) args[static_cast<size_t>(i)].type = kFp32;
  EXPECT_COST(cost(kFlash, args), 2 * 288 * 16, 4 * 384 * 4);
  for (int i = 0; i < 3; ++i) args[static_cast<size_t>(i)].type = kFp8;
  EXPECT_COST(cost(kFlash, args), 2 * 288 * 16, 3 * 384 + 384 * 2);
}

TEST(AttentionCost, AMaskIsRead) {
  std::vector<ArgValue> args = {tensor({2, 4, 6, 8}), tensor({2, 4, 6, 8}),
                                tensor({2, 4, 6, 8}), tensor({2, 4, 6, 6}, kBf16, {36, 0, 6, 1}),
                                number("0."),         number("False")};
  EXPECT_COST(cost("aten::scaled_dot_product_attention", args), 2 * 288 * 16,
              4 * 384 * 2 + 2 * 36 * 2);
}

TEST(AttentionCost, FurtherDimensionsAreABatch) {
  // [B, rows, S, H, D]
  const ArgValue q = tensor({2, 3, 6, 4, 8});
  EXPECT_COST(cost("EvoformerAttention", {q, q, q, none(), none()}), 2 * (6 * 4 * 36) * 16,
              4 * (2 * 3 * 6 * 4 * 8) * 2);
}

TEST(AttentionCost, PackedSequencesAreTakenToBeOfOneLength) {
  // 12 tokens in 2 sequences: 2 · 6 · 6 pairs in each of 4 heads
  const std::vector<ArgValue> args = {tensor({12, 4, 8}),  tensor({12, 4, 8}),  tensor({12, 4, 8}),
                                      tensor({3}, kInt32), tensor({3}, kInt32), number("6"),
                                      number("6"),         number("0."),        number("0.1"),
                                      number("False")};
  const auto found = cost("flash_attn::_flash_attn_varlen_forward", args);
  EXPECT_COST(found, 2 * 288 * 16, 4 * 384 * 2);
  EXPECT_EQ(found->assumption, "sequences of one length");
  std::vector<ArgValue> paged = args;
  paged.resize(16);
  paged[15] = tensor({2, 9}, kInt32);
  EXPECT_FALSE(cost("flash_attn::_flash_attn_varlen_forward", paged)) << "lengths are in memory";
}

TEST(AttentionCost, EfficientAttentionNumbersItsMasks) {
  const auto efficient = [](const char* mask) {
    std::vector<ArgValue> args(10);
    args[0] = args[1] = args[2] = tensor({2, 6, 4, 8});
    args[1] = args[2] = tensor({2, 8, 4, 8});
    args[9] = number(mask);
    return cost("aten::_efficient_attention_forward", args);
  };
  const double bytes = (2 * 384 + 2 * 512) * 2;
  EXPECT_COST(efficient("0"), 2 * 8 * 48 * 16, bytes);
  EXPECT_COST(efficient("1"), 2 * 8 * 18 * 16, bytes);
  EXPECT_COST(efficient("2"), 2 * 8 * 30 * 16, bytes);
}

TEST(AttentionCost, TheGradientHasTwiceTheProductsAndFlashOneMore) {
  // Four products, and QKᵀ again: 2·forward + 2·B·H·pairs·8. Q, K, V, O and their gradients.
  const double forward = 2 * 288 * 16;
  EXPECT_COST(gradient_cost(kFlash, attention(6, 6, "False")), 2 * forward + 2 * 288 * 8,
              8 * 384 * 2);
  std::vector<ArgValue> plain = {tensor({2, 4, 6, 8}), tensor({2, 4, 6, 8}),
                                 tensor({2, 4, 6, 8}), none(),
                                 number("0."),         number("False")};
  EXPECT_COST(gradient_cost("aten::scaled_dot_product_attention", plain), 2 * forward, 8 * 384 * 2);
}

TEST(AttentionCost, OddShapesAreUnknown) {
  EXPECT_FALSE(cost(kFlash, {tensor({4, 6}), tensor({4, 6}), tensor({4, 6})}));
  EXPECT_FALSE(cost(kFlash, {tensor({2, 4, 6, 8}), tensor({4, 6, 8}), tensor({4, 6, 8})}));
  EXPECT_FALSE(cost(kFlash, {tensor({2, 4, 6, 8})}));
  EXPECT_COST(cost(kFlash, attention(0, 6, "True")), 0, 2 * 4 * 6 * 8 * 2 * 2);
}

constexpr std::string_view kUnified = "vllm::unified_attention_with_output";

// 10 tokens, 4 heads of queries, 2 of keys, widths 8; queries of 8 bits
std::vector<ArgValue> unified() {
  return {tensor({10, 4, 8}, kFp8), tensor({10, 2, 8}), tensor({10, 2, 8}), tensor({10, 4, 8})};
}

TEST(InferenceAttentionCost, LengthsStandInAnAnnotation) {
  // One request of 10 tokens with 16 keys: Hq (2·160 − 100)(8 + 8); Q 320, O 320 · 2,
  // 16 keys and values of 2 · 16 elements
  Around around{{}, {"## inner ##", "execute_context_1(10_160)_generation_0(0)"}, {}};
  const auto found = cost(kUnified, unified(), around);
  EXPECT_COST(found, 4 * 220 * 16, 320 + 640 + 16 * 32 * 2);
  EXPECT_EQ(found->spec, "matrix_fp8");
  EXPECT_EQ(param(*found, "N_KV"), "16");
  EXPECT_EQ(param(*found, "sum_ctx_tokens"), "10");
  EXPECT_EQ(found->assumption, "no sliding window");
}

TEST(InferenceAttentionCost, WhatIsStoredIsReadAndWritten) {
  // The pages are of one byte: 16 · 32 read; 10 new ones are read as two bytes and stored as one
  Around around{{}, {"execute_context_1(10_160)_generation_0(0)"}, {}};
  around.below.push_back(
      {"_C_cache_ops::reshape_and_cache_flash",
       {{tensor({10, 2, 8}), tensor({10, 2, 8}), tensor({99, 16, 2, 8}, kByte)}}});
  EXPECT_COST(cost(kUnified, unified(), around), 4 * 220 * 16,
              320 + 640 + 16 * 32 + 10 * 32 * (2 + 1));
}

TEST(InferenceAttentionCost, GenerationSeesEveryKey) {
  // 2 requests with one token each, 30 keys in all: 2·Hq·30·16
  Around around{{}, {"execute_2_context_0(sq0sk0sqsq0sqsk0)_generation_2(sq2sk30sqsq2sqsk30)"}, {}};
  EXPECT_COST(cost(kUnified, unified(), around), 2 * 4 * 30 * 16,
              2 * 32 * 1 + 2 * 32 * 2 + 30 * 32 * 2);
}

TEST(InferenceAttentionCost, AWindowBoundsTheKeys) {
  std::vector<ArgValue> args(20);
  args[0] = args[1] = tensor({2, 4, 8});
  args[2] = args[3] = tensor({99, 2, 1, 16, 8}, kFp8);
  args[19] = number("5");
  Around around{{}, {"decode[bs=2 tok=2 d=2 sqsq=2 sqsk=30 sk=30]"}, {}};
  // 2 tokens see 5 each; heads of keys stand second
  EXPECT_COST(cost("aiter::pa_decode_gluon", args, around), 2 * 4 * 10 * 16,
              64 * 2 + 64 * 2 + 10 * 32);
  args[19] = number("-1");
  EXPECT_COST(cost("aiter::pa_decode_gluon", args, around), 2 * 4 * 30 * 16,
              64 * 2 + 64 * 2 + 30 * 32);
}

TEST(InferenceAttentionCost, WithoutLengthsItIsUnknown) {
  EXPECT_FALSE(cost(kUnified, unified()));
  EXPECT_FALSE(cost(kUnified, unified(), {{}, {"ProfilerStep#1"}, {}}));
  EXPECT_FALSE(cost(kUnified, unified(), {{}, {"execute_context_1(10)_generation_0(0)"}, {}}));
}

TEST(InferenceAttentionCost, PackedSequencesNeedNoAnnotation) {
  std::vector<ArgValue> args = {tensor({12, 4, 8}), tensor({12, 4, 8}), tensor({12, 4, 8}),
                                tensor({3}, kInt32), tensor({3}, kInt32)};
  EXPECT_COST(cost("aiter::mha_varlen_fwd", args), 2 * 288 * 16, 4 * 384 * 2);
}

TEST(SparseAttentionCost, EachIndexIsAPair) {
  // 3 queries with 5 keys each, 4 heads, widths 12 and 8; 40 rows of keys, of which 15 at most
  EXPECT_COST(cost("sglang_profiler::tilelang_kernel_tilelang_sparse_fwd",
                   {tensor({3, 4, 12}), tensor({40, 1, 12}), tensor({3, 1, 5}, kInt32),
                    number("0.1"), number("8")}),
              2 * 15 * 4 * 20, 3 * 4 * (12 + 8) * 2 + 15 * 12 * 2 + 15 * 4);
}

TEST(LinearAttentionCost, AStateForEachHead) {
  // 3 tokens; 4 value heads of width 8, keys of 2 heads as wide: 2·16 + 32 = 64 columns
  const std::vector<ArgValue> args = {tensor({3, 64}), tensor({3, 4}), tensor({3, 4}),
                                      tensor({3, 4, 8})};
  EXPECT_COST(cost("vllm::gdn_attention_core", args), 7 * 3 * 4 * 64, (3 * 64 + 12 + 12 + 96) * 2);
  // Two requests: their states are read and written, 2 · 2 · 4·8·8 elements
  Around around{{}, {"execute_context_2(3_5)_generation_0(0)"}, {}};
  EXPECT_COST(cost("vllm::gdn_attention_core", args, around), 7 * 3 * 4 * 64,
              (3 * 64 + 12 + 12 + 96 + 4 * 256) * 2);
}

TEST(StateSpaceCost, TheSizesFollowFromOneAnother) {
  // 2 heads, inner 8, one group with a state of 3: 2·8 + 2·3 + 2 = 24 columns, 14 convolved
  std::vector<ArgValue> args(17);
  args[0] = tensor({1, 10, 24});
  args[1] = tensor({14, 4});
  args[3] = tensor({2});
  args[6] = number("5");
  args[16] = number("1");
  // 2 · 10 tokens · (14·4 + 5·3 + 5·8 + 2·8·3)
  EXPECT_COST(cost("MambaSplitConv1dScanCombinedFn", args), 20 * (56 + 15 + 40 + 48),
              (240 + 56 + 80) * 2);
  args[16] = number("0");
  EXPECT_FALSE(cost("MambaSplitConv1dScanCombinedFn", args));
}

}  // namespace
}  // namespace fathom
