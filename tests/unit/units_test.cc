#include "base/units.h"

#include "checks.h"

namespace fathom {
namespace {

TEST(ExactDecimal, ShiftsThePointWithoutRounding) {
  EXPECT_EQ(exact_decimal(1234567, 3), "1234.567");
  EXPECT_EQ(exact_decimal(7, 3), "0.007");
  EXPECT_EQ(exact_decimal(70, 3), "0.07");
  EXPECT_EQ(exact_decimal(123456, 6), "0.123456");
  EXPECT_EQ(exact_decimal(6'500'000'000'000'001, 3), "6500000000000.001");
}

TEST(ExactDecimal, DropsTrailingZerosAfterThePointOnly) {
  EXPECT_EQ(exact_decimal(1500, 3), "1.5");
  EXPECT_EQ(exact_decimal(1000, 3), "1");
  EXPECT_EQ(exact_decimal(1'000'000, 3), "1000");
  EXPECT_EQ(exact_decimal(0, 3), "0");
  EXPECT_EQ(exact_decimal(1200, 0), "1200");
}

TEST(ExactDecimal, KeepsTheSignToTheLastValue) {
  EXPECT_EQ(exact_decimal(-7, 3), "-0.007");
  EXPECT_EQ(exact_decimal(-1500, 3), "-1.5");
  EXPECT_EQ(exact_decimal(INT64_MAX, 3), "9223372036854775.807");
  EXPECT_EQ(exact_decimal(INT64_MIN, 3), "-9223372036854775.808");
}

TEST(WithThousands, PutsACommaBeforeEachThirdDigit) {
  EXPECT_EQ(with_thousands(0), "0");
  EXPECT_EQ(with_thousands(999), "999");
  EXPECT_EQ(with_thousands(1000), "1,000");
  EXPECT_EQ(with_thousands(25228), "25,228");
  EXPECT_EQ(with_thousands(999999), "999,999");
  EXPECT_EQ(with_thousands(1234567890123), "1,234,567,890,123");
}

TEST(WithThousands, DoesNotCountTheSignAsADigit) {
  EXPECT_EQ(with_thousands(-999), "-999");
  EXPECT_EQ(with_thousands(-1000), "-1,000");
  EXPECT_EQ(with_thousands(-123456), "-123,456");
  EXPECT_EQ(with_thousands(INT64_MIN), "-9,223,372,036,854,775,808");
}

TEST(NanosArithmetic, IsExactWhereADoubleIsNot) {
  const Nanos late{6'500'000'000'000'000'001};
  EXPECT_EQ((late - Nanos{6'500'000'000'000'000'000}).count, 1);
  EXPECT_EQ((late + Nanos{1}).count, 6'500'000'000'000'000'002);
  EXPECT_LT(late, late + Nanos{1});
}

TEST(NanosArithmetic, TheRatioToNothingIsNothing) {
  EXPECT_EQ(ratio(Nanos{5}, Nanos{0}), 0.0);
  EXPECT_EQ(ratio(Nanos{1}, Nanos{4}), 0.25);
}

}  // namespace
}  // namespace fathom
