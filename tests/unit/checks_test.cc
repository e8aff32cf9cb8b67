// The checks that all other tests are written with: each fails where it should, and says what it
// saw.
#include "checks.h"

#include <gtest/gtest-spi.h>

#include <limits>
#include <optional>
#include <set>

namespace fathom::test {
namespace {

TEST(Checks, EqualFailsForEachKindOfValue) {
  const std::string text = "abc";
  const std::vector<std::string> names = {"a", "b"};
  const std::optional<int> none, three = 3;
  EXPECT_NONFATAL_FAILURE(EXPECT_EQ(text, "abd"), "\"abd\"");
  EXPECT_NONFATAL_FAILURE(EXPECT_EQ(text.size(), 4u), "Which is: 3");
  EXPECT_NONFATAL_FAILURE(EXPECT_EQ(-1, 4294967295u), "Which is: 4294967295");
  EXPECT_NONFATAL_FAILURE(EXPECT_EQ(int64_t{-1}, std::numeric_limits<uint64_t>::max()), "-1");
  EXPECT_NONFATAL_FAILURE(EXPECT_EQ(0.5, 0.25), "0.5");
  EXPECT_NONFATAL_FAILURE(EXPECT_EQ(true, false), "true");
  EXPECT_NONFATAL_FAILURE(EXPECT_EQ('a', 'b'), "'a'");
  EXPECT_NONFATAL_FAILURE(EXPECT_EQ(names, (std::vector<std::string>{"a"})), "{ \"a\" }");
  EXPECT_NONFATAL_FAILURE(EXPECT_EQ(none, three), "(3)");
  EXPECT_NONFATAL_FAILURE(EXPECT_EQ(three, 4), "4");
  EXPECT_NONFATAL_FAILURE(EXPECT_EQ((std::set<int>{1}), (std::set<int>{2})), "{ 2 }");
  EXPECT_NONFATAL_FAILURE(EXPECT_EQ(&text, nullptr), "nullptr");
  EXPECT_EQ(text, std::string_view("abc"));
  EXPECT_EQ(text.size(), 3);
  EXPECT_EQ(1, 1.0);
  EXPECT_EQ(three, 3);
}

TEST(Checks, OrderFollowsTheNumbersNotTheirTypes) {
  const uint64_t most = std::numeric_limits<uint64_t>::max();
  EXPECT_LT(-1, 0u);
  EXPECT_LT(int64_t{-2}, int64_t{-1});
  EXPECT_GT(most, int64_t{-1});
  EXPECT_NONFATAL_FAILURE(EXPECT_GT(-1, 0u), "actual: -1 vs 0");
  EXPECT_NONFATAL_FAILURE(EXPECT_LT(most, -1), "18446744073709551615 vs -1");
  EXPECT_NONFATAL_FAILURE(EXPECT_LT(3, 3), "(3) < (3)");
  EXPECT_NONFATAL_FAILURE(EXPECT_LE(4, 3), "(4) <= (3)");
  EXPECT_NONFATAL_FAILURE(EXPECT_GE(2.5, 3), "2.5 vs 3");
  EXPECT_NONFATAL_FAILURE(EXPECT_NE(3u, 3), "(3u) != (3)");
  EXPECT_NONFATAL_FAILURE(EXPECT_NE(std::string("a"), "a"), "\"a\" vs \"a\"");
  EXPECT_NONFATAL_FAILURE(EXPECT_LT(std::string("b"), "a"), "\"b\" vs \"a\"");
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NONFATAL_FAILURE(EXPECT_EQ(unknown, unknown), "nan");
  EXPECT_NONFATAL_FAILURE(EXPECT_LE(unknown, 1), "nan");
  EXPECT_NONFATAL_FAILURE(EXPECT_NEAR(1.0, 1.2, 0.1), "exceeds");
  EXPECT_NONFATAL_FAILURE(EXPECT_NEAR(unknown, 1.2, 0.1), "nan");
  EXPECT_NONFATAL_FAILURE(EXPECT_DOUBLE_EQ(1.0, 1.0000001), "1.0");
  EXPECT_NEAR(1.0, 1.05, 0.1);
  EXPECT_DOUBLE_EQ(0.1 + 0.2, 0.3);
}

TEST(Checks, ConditionsAndNotes) {
  const std::optional<int> none;
  EXPECT_NONFATAL_FAILURE(EXPECT_TRUE(none), "Value of: none");
  EXPECT_NONFATAL_FAILURE(EXPECT_FALSE(!none), "Expected: false");
  EXPECT_NONFATAL_FAILURE(EXPECT_EQ(1, 2) << "the " << 7 << std::string("th"), "the 7th");
  EXPECT_NONFATAL_FAILURE(EXPECT_TRUE(false), "Expected: true");  // and not the notes before it
}

TEST(Checks, AssertionsEndTheTest) {
  static bool went_on = false;
  EXPECT_FATAL_FAILURE(
      {
        ASSERT_EQ(1, 2) << "first";
        went_on = true;
      },
      "first");
  EXPECT_FATAL_FAILURE(
      {
        ASSERT_TRUE(went_on);
        went_on = true;
      },
      "Value of: went_on");
  EXPECT_FALSE(went_on);
  if (went_on)
    ASSERT_TRUE(went_on);
  else
    ASSERT_FALSE(went_on);
}

}  // namespace
}  // namespace fathom::test
