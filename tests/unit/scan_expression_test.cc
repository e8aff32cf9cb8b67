#include <map>

#include "checks.h"
#include "scan/facts/expression.h"

namespace fathom {
namespace {

std::optional<double> value(std::string_view expression,
                            const std::map<std::string, double, std::less<>>& names = {}) {
  return evaluate(expression, [&](std::string_view name) -> std::optional<double> {
    const auto found = names.find(name);
    return found == names.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(Expression, ArithmeticAsInC) {
  EXPECT_EQ(value("1 + 2 * 3"), 7);
  EXPECT_EQ(value("(1 + 2) * 3"), 9);
  EXPECT_EQ(value("7 / 2"), 3);
  EXPECT_EQ(value("7 / 2.5"), 2.8);
  EXPECT_EQ(value("-7 % 4"), -3);
  EXPECT_EQ(value("1 << 10"), 1024);
  EXPECT_EQ(value("1024 >> 3"), 128);
  EXPECT_EQ(value("0x20u"), 32);
  EXPECT_EQ(value("10 - 4 - 3"), 3);
}

TEST(Expression, ConditionsChoose) {
  EXPECT_EQ(value("n % 2048 == 0 ? 4 : n % 1024 == 0 ? 2 : 1", {{"n", 8192}}), 4);
  EXPECT_EQ(value("n % 2048 == 0 ? 4 : n % 1024 == 0 ? 2 : 1", {{"n", 3072}}), 2);
  EXPECT_EQ(value("n % 2048 == 0 ? 4 : n % 1024 == 0 ? 2 : 1", {{"n", 100}}), 1);
  EXPECT_EQ(value("a < b && !(a >= b)", {{"a", 1}, {"b", 2}}), 1);
}

TEST(Expression, DivisionsThatRoundUpHaveManyNames) {
  for (const char* name : {"cdiv", "div_ceil", "ceil_div", "DIVUP", "host::div_ceil"}) {
    EXPECT_EQ(value(std::string(name) + "(257, 4)"), 65) << name;
  }
  EXPECT_EQ(value("(rows + threads / 32 - 1) / (threads / 32)", {{"rows", 257}, {"threads", 128}}),
            65);
}

// A double holds each whole number up to 2^53.
TEST(Expression, SizesOfNothingAreUnknown) {
  EXPECT_EQ(value("1 << 53"), 0x1p53);
  EXPECT_EQ(value("-(1 << 53)"), -0x1p53);
  for (const char* beyond : {"(1 << 53) * 2", "1 << 1000000000", "-1 << 60", "1e300",
                             "99999999999999999999", "n * n", "log2(0)"}) {
    EXPECT_FALSE(value(beyond, {{"n", 1e9}})) << beyond;
  }
}

TEST(Expression, UnknownNamesMakeItUnknown) {
  EXPECT_EQ(value("batch * 2"), std::nullopt);
  EXPECT_EQ(value("f(1, 2)"), std::nullopt);
  EXPECT_EQ(value("1 / 0"), std::nullopt);
  EXPECT_EQ(value("min(batch, 4)"), std::nullopt);
}

TEST(Expression, TextThatIsNoExpressionIsUnknown) {
  for (const char* text : {"", "1 +", "(1", "1 2", "min(1", "?", "a.b"}) {
    EXPECT_EQ(value(text, {{"a", 1}}), std::nullopt) << text;
  }
  EXPECT_EQ(value(std::string(100000, '(')), std::nullopt);
  EXPECT_EQ(value(std::string(100000, '-') + "1"), std::nullopt);
}

TEST(Expression, WhatCannotBeComputedMayBeKnownAsAWhole) {
  EXPECT_EQ(value("L.unwrap() * 2", {{"L.unwrap()", 8}}), 16);
  EXPECT_EQ(value("triton.cdiv(x.shape[0], 4)", {{"x.shape[0]", 10}}), 3);
  EXPECT_EQ(value("blocks(count) + 1", {{"blocks(count)", 4}}), 5);
  EXPECT_EQ(value("p->rows", {{"p->rows", 3}}), 3);
}

TEST(Expression, NamesAreThoseThatNeedAValue) {
  EXPECT_EQ(names_in("div_ceil(num_warps, kWarps) * 32u + num_warps"),
            (std::vector<std::string>{"num_warps", "kWarps"}));
}

}  // namespace
}  // namespace fathom
