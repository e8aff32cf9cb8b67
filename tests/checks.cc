#include "checks.h"

#include <cmath>
#include <cstdio>
#include <memory>
#include <utility>

namespace fathom::test {
namespace {

using Kind = CheckedNumber::Kind;

thread_local std::string unrelated;  // what check() found last
thread_local std::unique_ptr<::testing::Message> noted;

template <typename A, typename B>
bool compare(Relation relation, const A& a, const B& b) {
  switch (relation) {
    case Relation::kEqual:
      return a == b;
    case Relation::kNotEqual:
      return a != b;
    case Relation::kLess:
      return a < b;
    case Relation::kAtMost:
      return a <= b;
    case Relation::kGreater:
      return a > b;
    case Relation::kAtLeast:
      return a >= b;
  }
  return false;
}

const char* sign(Relation relation) {
  switch (relation) {
    case Relation::kEqual:
      return "==";
    case Relation::kNotEqual:
      return "!=";
    case Relation::kLess:
      return "<";
    case Relation::kAtMost:
      return "<=";
    case Relation::kGreater:
      return ">";
    case Relation::kAtLeast:
      return ">=";
  }
  return "?";
}

bool is_negative(const CheckedNumber& number) {
  return (number.kind == Kind::kSigned || number.kind == Kind::kLetter) &&
         static_cast<int64_t>(number.whole) < 0;
}

double as_real(const CheckedNumber& number) {
  if (number.kind == Kind::kReal) return number.real;
  return is_negative(number) ? static_cast<double>(static_cast<int64_t>(number.whole))
                             : static_cast<double>(number.whole);
}

bool compare_numbers(Relation relation, const CheckedNumber& a, const CheckedNumber& b) {
  if (a.kind == Kind::kReal || b.kind == Kind::kReal)
    return compare(relation, as_real(a), as_real(b));
  // Of one sign, two's complement has the order of the numbers.
  if (is_negative(a) != is_negative(b))
    return compare(relation, is_negative(a) ? -1 : 0, is_negative(b) ? -1 : 0);
  return compare(relation, a.whole, b.whole);
}

std::string text_of(const CheckedNumber& number) {
  switch (number.kind) {
    case Kind::kReal:
      return ::testing::PrintToString(number.real);
    case Kind::kTruth:
      return number.whole != 0 ? "true" : "false";
    case Kind::kLetter:
      return ::testing::PrintToString(static_cast<char>(number.whole));
    case Kind::kSigned:
      return std::to_string(static_cast<int64_t>(number.whole));
    case Kind::kUnsigned:
      return std::to_string(number.whole);
  }
  return "";
}

bool keep(const ::testing::AssertionResult& result) {
  if (!result) unrelated = result.message();
  return static_cast<bool>(result);
}

// gtest asks for an object of each test.
class FunctionTest : public ::testing::Test {
 public:
  explicit FunctionTest(void (*body)()) : body_(body) {}

 private:
  void TestBody() override { body_(); }

  void (*body_)();
};

}  // namespace

bool check(Relation relation, const char* a_text, const char* b_text, std::string_view a,
           std::string_view b) {
  if (compare(relation, a, b)) return true;
  keep_unrelated(relation, a_text, b_text, ::testing::PrintToString(a),
                 ::testing::PrintToString(b));
  return false;
}

bool check(Relation relation, const char* a_text, const char* b_text, CheckedNumber a,
           CheckedNumber b) {
  if (compare_numbers(relation, a, b)) return true;
  keep_unrelated(relation, a_text, b_text, text_of(a), text_of(b));
  return false;
}

bool check(Relation relation, const char* a_text, const char* b_text,
           const std::vector<std::string>& a, const std::vector<std::string>& b) {
  if (compare(relation, a, b)) return true;
  keep_unrelated(relation, a_text, b_text, ::testing::PrintToString(a),
                 ::testing::PrintToString(b));
  return false;
}

bool check_near(const char* a_text, const char* b_text, const char* bound_text, double a, double b,
                double bound) {
  return keep(::testing::internal::DoubleNearPredFormat(a_text, b_text, bound_text, a, b, bound));
}

bool check_nearest(const char* a_text, const char* b_text, double a, double b) {
  return keep(::testing::internal::CmpHelperFloatingPointEQ<double>(a_text, b_text, a, b));
}

void keep_unrelated(Relation relation, const char* a_text, const char* b_text, const std::string& a,
                    const std::string& b) {
  if (relation == Relation::kEqual) {
    unrelated = ::testing::internal::EqFailure(a_text, b_text, a, b, false).message();
    return;
  }
  unrelated = std::string("Expected: (") + a_text + ") " + sign(relation) + " (" + b_text +
              "), actual: " + a + " vs " + b;
}

::testing::Message& CheckFailure::notes() {
  if (noted == nullptr) noted = std::make_unique<::testing::Message>();
  return *noted;
}

const CheckFailure& CheckFailure::operator<<(const char* note) const {
  notes() << note;
  return *this;
}

const CheckFailure& CheckFailure::operator<<(const std::string& note) const {
  notes() << note;
  return *this;
}

const CheckFailure& CheckFailure::operator<<(std::string_view note) const {
  notes() << note;
  return *this;
}

void CheckReport::operator&(const CheckFailure& failure) const {
  std::string message = std::exchange(unrelated, {});
  if (failure.kind != CheckFailure::Kind::kRelation) {
    const bool wanted = failure.kind == CheckFailure::Kind::kNotTrue;
    message = std::string("Value of: ") + failure.text +
              "\n  Actual: " + (wanted ? "false" : "true") +
              "\nExpected: " + (wanted ? "true" : "false");
  }
  const auto notes = noted != nullptr ? std::move(noted) : std::make_unique<::testing::Message>();
  ::testing::internal::AssertHelper(failure.ends_test ? ::testing::TestPartResult::kFatalFailure
                                                      : ::testing::TestPartResult::kNonFatalFailure,
                                    failure.file, failure.line, message.c_str()) = *notes;
}

TestFunction::TestFunction(const char* suite, const char* name, const char* file, int line,
                           void (*body)()) {
  ::testing::RegisterTest(suite, name, nullptr, nullptr, file, line,
                          [body]() -> ::testing::Test* { return new FunctionTest(body); });
}

}  // namespace fathom::test
