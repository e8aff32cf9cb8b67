#include "cost/request_lengths.h"

#include "checks.h"

namespace fathom {
namespace {

void expect_lengths(const RequestLengths& found, const RequestLengths& expected) {
  EXPECT_EQ(found.requests, expected.requests);
  EXPECT_EQ(found.queries, expected.queries);
  EXPECT_EQ(found.keys, expected.keys);
  EXPECT_EQ(found.queries_squared, expected.queries_squared);
  EXPECT_EQ(found.queries_keys, expected.queries_keys);
}

TEST(RequestLengths, OneRequestFollowsFromTwoSums) {
  const auto found = read_batch_lengths("execute_context_1(888_788544)_generation_0(0)");
  ASSERT_TRUE(found);
  expect_lengths(found->context, {1, 888, 888, 788544, 788544});
  expect_lengths(found->generation, {});
  EXPECT_FALSE(found->even_lengths);
}

TEST(RequestLengths, SeveralAreTakenToBeEven) {
  // Two of 4 new tokens and 10 keys: Σ sq·sk = 80, Σ sq² = 32, Σ sk = 20
  const auto found = read_batch_lengths("execute_context_2(8_80)_generation_0(0)");
  ASSERT_TRUE(found);
  expect_lengths(found->context, {2, 8, 20, 32, 80});
  EXPECT_TRUE(found->even_lengths);
}

TEST(RequestLengths, AllSums) {
  const auto found = read_batch_lengths(
      "execute_67_context_2(sq64sk80sqsq2080sqsk2600)_generation_3(sq3sk90sqsq3sqsk91)");
  ASSERT_TRUE(found);
  expect_lengths(found->context, {2, 64, 80, 2080, 2600});
  expect_lengths(found->generation, {3, 3, 90, 3, 91});
}

TEST(RequestLengths, SgLang) {
  const auto mixed = read_batch_lengths(
      "step[MIXED bs=2 c=1 g=1 c_sq=5 c_sk=8 c_sqsq=25 c_sqsk=40 g_sq=1 g_sk=12 g_sqsq=1 "
      "g_sqsk=13]");
  ASSERT_TRUE(mixed);
  expect_lengths(mixed->context, {1, 5, 8, 25, 40});
  expect_lengths(mixed->generation, {1, 1, 12, 1, 13});
  const auto decode =
      read_batch_lengths("step[DECODE bs=64 g_sq=128 g_sqsq=256 g_sqsk=262144 g_sk=131072]");
  ASSERT_TRUE(decode);
  expect_lengths(decode->generation, {64, 128, 131072, 256, 262144});
}

TEST(RequestLengths, Atom) {
  const auto prefill =
      read_batch_lengths("prefill[bs=2 tok=147 ctx=[78, 69] sqsq=108 sqsk=109 sk=148]");
  ASSERT_TRUE(prefill);
  expect_lengths(prefill->context, {2, 147, 148, 108, 109});
  const auto decode =
      read_batch_lengths("decode[bs=117/128 tok=117 d=117 sqsq=117 sqsk=900 sk=901]");
  ASSERT_TRUE(decode);
  expect_lengths(decode->generation, {117, 117, 901, 117, 900});
}

TEST(RequestLengths, WithoutKeysNothingIsKnown) {
  for (const char* text :
       {"", "ProfilerStep#3", "execute_context_2(14721)_generation_0(0)", "step[DECODE bs=64]",
        "execute_context_0(0)_generation_64(64)", "prefill[bs=2 tok=14721]", "execute_",
        "execute_context_1(888_788544)", "execute_context_1(888_)_generation_0(0)",
        "execute_context_99999999999999999999999(1_1)_generation_0(0)", "step[", "step[]",
        "execute_context_-1(8_8)_generation_0(0)", "decode[", "step[EXTEND bs=2 toks=147]"}) {
    EXPECT_FALSE(read_batch_lengths(text)) << text;
  }
}

}  // namespace
}  // namespace fathom
