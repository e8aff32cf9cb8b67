#include "checks.h"
#include "ingest/kineto/json_text.h"

namespace fathom::kineto {
namespace {

// The nanoseconds, or a word that no number is.
std::string nanos(std::string_view json) {
  const std::optional<Nanos> time = read_micros(json);
  return time ? std::to_string(time->count) : "none";
}

std::string integer(std::string_view json) {
  const std::optional<int64_t> value = read_integer(json);
  return value ? std::to_string(*value) : "none";
}

std::string dims(std::string_view json) {
  const std::optional<Dim3> d = read_dim3(json);
  if (!d) return "none";
  return std::to_string(d->x) + " " + std::to_string(d->y) + " " + std::to_string(d->z);
}

TEST(ReadMicros, WholeNumbersAndUpToThreeDecimals) {
  EXPECT_EQ(nanos("0"), "0");
  EXPECT_EQ(nanos("12"), "12000");
  EXPECT_EQ(nanos("12.3"), "12300");
  EXPECT_EQ(nanos("12.34"), "12340");
  EXPECT_EQ(nanos("12.345"), "12345");
  EXPECT_EQ(nanos("0.001"), "1");
  EXPECT_EQ(nanos("007.100"), "7100");
}

TEST(ReadMicros, FurtherDecimalsAreRounded) {
  EXPECT_EQ(nanos("12.3454"), "12345");
  EXPECT_EQ(nanos("12.3455"), "12346");
  EXPECT_EQ(nanos("12.34549999"), "12345");
  EXPECT_EQ(nanos("0.9995"), "1000") << "the carry reaches the whole number";
  EXPECT_EQ(nanos("0.00049"), "0");
  EXPECT_EQ(nanos("-12.3455"), "-12346");
}

TEST(ReadMicros, ExactWhereADoubleIsNot) {
  EXPECT_EQ(nanos("6500000000000.001"), "6500000000000001");
  EXPECT_EQ(nanos("6500000000000.002"), "6500000000000002");
  EXPECT_EQ(nanos("6512345678901.237"), "6512345678901237");
  EXPECT_EQ(nanos("9007199254740.993"), "9007199254740993") << "2^53 + 1";
}

TEST(ReadMicros, Negative) {
  EXPECT_EQ(nanos("-5"), "-5000");
  EXPECT_EQ(nanos("-0.25"), "-250");
  EXPECT_EQ(nanos("-0"), "0");
}

TEST(ReadMicros, InQuotes) {
  EXPECT_EQ(nanos("\"12.5\""), "12500");
  EXPECT_EQ(nanos("\"-1\""), "-1000");
}

TEST(ReadMicros, WhatDoesNotFitIsNothing) {
  EXPECT_EQ(nanos("4611686018427386.807"), "4611686018427386807");
  EXPECT_EQ(nanos("-4611686018427386.807"), "-4611686018427386807");
  EXPECT_EQ(nanos("4611686018427387"), "none");
  EXPECT_EQ(nanos("10000000000000000"), "none");
  EXPECT_EQ(nanos("99999999999999999999999999"), "none");
  EXPECT_EQ(nanos("-99999999999999999999999999.5"), "none");
}

TEST(ReadMicros, Scientific) {
  EXPECT_EQ(nanos("1e3"), "1000000");
  EXPECT_EQ(nanos("1.5E+3"), "1500000");
  EXPECT_EQ(nanos("25e-3"), "25");
  EXPECT_EQ(nanos("6.5e12"), "6500000000000000");
  EXPECT_EQ(nanos("-2e0"), "-2000");
  EXPECT_EQ(nanos("1e30"), "none");
  EXPECT_EQ(nanos("1e400"), "none");
}

TEST(ReadMicros, GarbageIsNothing) {
  for (std::string_view text :
       {"",    "\"\"", "abc", "null", "true", "-",   ".",   ".5", "1 2", "1.2.3", "1x",  "0x10",
        "NaN", "--5",  "+5",  "1e",   "1e5x", "inf", "[1]", "{}", "\"",  "\"a\"", "1,5", "-.5"}) {
    EXPECT_EQ(nanos(text), "none") << text;
  }
}

TEST(ReadInteger, AllOf64Bits) {
  EXPECT_EQ(integer("0"), "0");
  EXPECT_EQ(integer("-7"), "-7");
  EXPECT_EQ(integer("9007199254740993"), "9007199254740993") << "2^53 + 1";
  EXPECT_EQ(integer("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(integer("-9223372036854775808"), "-9223372036854775808");
}

TEST(ReadInteger, IdsBeyondTheSignStayDifferent) {
  const auto first = read_integer("18446744073709551615"),
             second = read_integer("18446744073709551614");
  ASSERT_TRUE(first && second);
  EXPECT_NE(*first, *second);
  EXPECT_EQ(static_cast<uint64_t>(*first), UINT64_MAX);
  EXPECT_EQ(integer("18446744073709551616"), "none");
  EXPECT_EQ(integer("-9223372036854775809"), "none");
}

TEST(ReadInteger, WholeNumbersInOtherSpellings) {
  EXPECT_EQ(integer("12.0"), "12");
  EXPECT_EQ(integer("12.000"), "12");
  EXPECT_EQ(integer("-3.0"), "-3");
  EXPECT_EQ(integer("\"42\""), "42");
  EXPECT_EQ(integer("\"18446744073709551615\""), "-1");
}

TEST(ReadInteger, WhatIsNoWholeNumberIsNothing) {
  for (std::string_view text : {"", "\"\"", "null", "true", "12.5", "12.05", "abc", "\"inf\"",
                                "inf", "NaN", "1 2", "12x", "-", "[1]", "\"Spans\"", "0x1f"}) {
    EXPECT_EQ(integer(text), "none") << text;
  }
}

TEST(ReadDim3, ThreeSizes) {
  EXPECT_EQ(dims("[1,2,3]"), "1 2 3");
  EXPECT_EQ(dims("[ 132 ,\n 1,\t65535 ]"), "132 1 65535");
  EXPECT_EQ(dims("[\"4\",5.0,6]"), "4 5 6");
}

TEST(ReadDim3, MissingSizesAreOne) {
  EXPECT_EQ(dims("[7]"), "7 1 1");
  EXPECT_EQ(dims("[7,8]"), "7 8 1");
}

TEST(ReadDim3, AnythingElseIsNothing) {
  for (std::string_view text : {"", "[]", "[", "]", "null", "7", "[1,x,3]", "[1,2,]", "[1,,3]",
                                "{\"x\":1}", "\"[1,2,3]\""}) {
    EXPECT_EQ(dims(text), "none") << text;
  }
}

}  // namespace
}  // namespace fathom::kineto
