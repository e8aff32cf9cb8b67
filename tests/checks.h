// What tests are written with. gtest runs them; TEST, EXPECT_… and ASSERT_… are our own under its
// names, since its own make ten functions for each test and a dozen for each pair of types that is
// compared: a third of the time that compiling the tests took. Text and numbers are compared by
// functions that are compiled once. TEST_F, TEST_P, SCOPED_TRACE and the rest are gtest's.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace fathom::test {

// Any arithmetic value. Two of them are compared by value, whatever their types.
struct CheckedNumber {
  enum class Kind : uint8_t { kSigned, kUnsigned, kReal, kTruth, kLetter };

  template <typename T>
    requires std::is_arithmetic_v<T>
  CheckedNumber(T value) {  // NOLINT(google-explicit-constructor): the point of it
    if constexpr (std::is_floating_point_v<T>) {
      kind = Kind::kReal;
      real = static_cast<double>(value);
    } else if constexpr (std::is_signed_v<T>) {
      kind = std::is_same_v<T, char> ? Kind::kLetter : Kind::kSigned;
      whole = static_cast<uint64_t>(static_cast<int64_t>(value));
    } else {
      kind = std::is_same_v<T, bool> ? Kind::kTruth : Kind::kUnsigned;
      whole = static_cast<uint64_t>(value);
    }
  }

  Kind kind;
  uint64_t whole = 0;
  double real = 0;
};

enum class CheckedKind : uint8_t { kOther, kNumber, kText };
template <typename T>
constexpr CheckedKind kCheckedKind =
    std::is_arithmetic_v<T> ? CheckedKind::kNumber
    : std::is_convertible_v<const T&, std::string_view> && !std::is_null_pointer_v<T>
        ? CheckedKind::kText
        : CheckedKind::kOther;
template <size_t size>
constexpr CheckedKind kCheckedKind<char[size]> = CheckedKind::kText;
template <typename A, typename B>
concept ComparedByTemplate =
    kCheckedKind<A> == CheckedKind::kOther || kCheckedKind<A> != kCheckedKind<B>;

enum class Relation : uint8_t { kEqual, kNotEqual, kLess, kAtMost, kGreater, kAtLeast };
template <Relation relation>
struct Related {
  constexpr operator Relation() const { return relation; }  // NOLINT(google-explicit-constructor)
  template <typename A, typename B>
  static bool holds(const A& a, const B& b) {
    if constexpr (relation == Relation::kEqual) return a == b;
    if constexpr (relation == Relation::kNotEqual) return a != b;
    if constexpr (relation == Relation::kLess) return a < b;
    if constexpr (relation == Relation::kAtMost) return a <= b;
    if constexpr (relation == Relation::kGreater) return a > b;
    if constexpr (relation == Relation::kAtLeast) return a >= b;
  }
};

// False: the relation does not hold, and the next CheckFailure of this thread says so.
bool check(Relation, const char* a_text, const char* b_text, std::string_view a,
           std::string_view b);
bool check(Relation, const char* a_text, const char* b_text, CheckedNumber a, CheckedNumber b);
bool check(Relation, const char* a_text, const char* b_text, const std::vector<std::string>& a,
           const std::vector<std::string>& b);
bool check_near(const char* a_text, const char* b_text, const char* bound_text, double a, double b,
                double bound);
bool check_nearest(const char* a_text, const char* b_text, double a, double b);
void keep_unrelated(Relation, const char* a_text, const char* b_text, const std::string& a,
                    const std::string& b);
template <Relation relation, typename A, typename B>
  requires ComparedByTemplate<A, B>
bool check(Related<relation> of, const char* a_text, const char* b_text, const A& a, const B& b) {
  if (of.holds(a, b)) return true;
  keep_unrelated(relation, a_text, b_text, ::testing::PrintToString(a),
                 ::testing::PrintToString(b));
  return false;
}

// What failed, and where. What is written to it follows the message.
struct CheckFailure {
  enum class Kind : uint8_t { kRelation, kNotTrue, kNotFalse };

  const char* file;
  int line;
  bool ends_test;
  Kind kind;
  const char* text;  // the condition, unless it is a relation

  static ::testing::Message& notes();  // of this thread
  const CheckFailure& operator<<(const char* note) const;
  const CheckFailure& operator<<(const std::string& note) const;
  const CheckFailure& operator<<(std::string_view note) const;
  template <typename T>
  const CheckFailure& operator<<(const T& note) const {
    notes() << note;
    return *this;
  }
};
// Binds less than <<, so all notes are there when it reports.
struct CheckReport {
  void operator&(const CheckFailure& failure) const;
};

// A test without a fixture is a function.
struct TestFunction {
  TestFunction(const char* suite, const char* name, const char* file, int line, void (*body)());
};

}  // namespace fathom::test

#undef TEST
#define TEST(suite, name)                                                \
  static void suite##_##name##_Test();                                   \
  static const ::fathom::test::TestFunction suite##_##name##_registered( \
      #suite, #name, __FILE__, __LINE__, suite##_##name##_Test);         \
  static void suite##_##name##_Test()

#define FATHOM_FAILURE_(ends, kind, text)                                    \
  ::fathom::test::CheckReport() & ::fathom::test::CheckFailure {             \
    __FILE__, __LINE__, ends, ::fathom::test::CheckFailure::Kind::kind, text \
  }
#define FATHOM_EXPECT_(held, kind, text) held ? (void)0 : FATHOM_FAILURE_(false, kind, text)
#define FATHOM_ASSERT_(held, kind, text) \
  GTEST_AMBIGUOUS_ELSE_BLOCKER_          \
  if (held) {                            \
  } else /* NOLINT */                    \
    return FATHOM_FAILURE_(true, kind, text)
#define FATHOM_RELATED_(relation, a, b) \
  ::fathom::test::check(::fathom::test::Related<::fathom::test::Relation::relation>(), #a, #b, a, b)

#undef EXPECT_TRUE
#undef EXPECT_FALSE
#undef EXPECT_EQ
#undef EXPECT_NE
#undef EXPECT_LT
#undef EXPECT_LE
#undef EXPECT_GT
#undef EXPECT_GE
#undef EXPECT_NEAR
#undef EXPECT_DOUBLE_EQ
#undef ASSERT_TRUE
#undef ASSERT_FALSE
#undef ASSERT_EQ
#undef ASSERT_NE
#undef ASSERT_LT
#undef ASSERT_LE
#undef ASSERT_GT
#undef ASSERT_GE
#undef ASSERT_NEAR
#define EXPECT_TRUE(condition) FATHOM_EXPECT_(static_cast<bool>(condition), kNotTrue, #condition)
#define EXPECT_FALSE(condition) FATHOM_EXPECT_(!static_cast<bool>(condition), kNotFalse, #condition)
#define EXPECT_EQ(a, b) FATHOM_EXPECT_(FATHOM_RELATED_(kEqual, a, b), kRelation, nullptr)
#define EXPECT_NE(a, b) FATHOM_EXPECT_(FATHOM_RELATED_(kNotEqual, a, b), kRelation, nullptr)
#define EXPECT_LT(a, b) FATHOM_EXPECT_(FATHOM_RELATED_(kLess, a, b), kRelation, nullptr)
#define EXPECT_LE(a, b) FATHOM_EXPECT_(FATHOM_RELATED_(kAtMost, a, b), kRelation, nullptr)
#define EXPECT_GT(a, b) FATHOM_EXPECT_(FATHOM_RELATED_(kGreater, a, b), kRelation, nullptr)
#define EXPECT_GE(a, b) FATHOM_EXPECT_(FATHOM_RELATED_(kAtLeast, a, b), kRelation, nullptr)
#define EXPECT_NEAR(a, b, bound) \
  FATHOM_EXPECT_(::fathom::test::check_near(#a, #b, #bound, a, b, bound), kRelation, nullptr)
#define EXPECT_DOUBLE_EQ(a, b) \
  FATHOM_EXPECT_(::fathom::test::check_nearest(#a, #b, a, b), kRelation, nullptr)
#define ASSERT_TRUE(condition) FATHOM_ASSERT_(static_cast<bool>(condition), kNotTrue, #condition)
#define ASSERT_FALSE(condition) FATHOM_ASSERT_(!static_cast<bool>(condition), kNotFalse, #condition)
#define ASSERT_EQ(a, b) FATHOM_ASSERT_(FATHOM_RELATED_(kEqual, a, b), kRelation, nullptr)
#define ASSERT_NE(a, b) FATHOM_ASSERT_(FATHOM_RELATED_(kNotEqual, a, b), kRelation, nullptr)
#define ASSERT_LT(a, b) FATHOM_ASSERT_(FATHOM_RELATED_(kLess, a, b), kRelation, nullptr)
#define ASSERT_LE(a, b) FATHOM_ASSERT_(FATHOM_RELATED_(kAtMost, a, b), kRelation, nullptr)
#define ASSERT_GT(a, b) FATHOM_ASSERT_(FATHOM_RELATED_(kGreater, a, b), kRelation, nullptr)
#define ASSERT_GE(a, b) FATHOM_ASSERT_(FATHOM_RELATED_(kAtLeast, a, b), kRelation, nullptr)
#define ASSERT_NEAR(a, b, bound) \
  FATHOM_ASSERT_(::fathom::test::check_near(#a, #b, #bound, a, b, bound), kRelation, nullptr)
