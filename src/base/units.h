#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace fathom {

// A point in time or a length of time in nanoseconds, exact. Kineto's clock reaches 6.5e12 µs,
// where a double's step is about 1 ns: times are never held in floating point until a ratio is
// asked for.
struct Nanos {
  int64_t count = 0;

  constexpr auto operator<=>(const Nanos&) const = default;
  // Ends at the limits: times from a hostile trace may add up to anything, and a sum that turns
  // negative would be shown.
  constexpr Nanos operator+(Nanos other) const {
    int64_t sum = 0;
    if (!__builtin_add_overflow(count, other.count, &sum)) return {sum};
    return {other.count < 0 ? INT64_MIN : INT64_MAX};
  }
  constexpr Nanos operator-(Nanos other) const {
    int64_t difference = 0;
    if (!__builtin_sub_overflow(count, other.count, &difference)) return {difference};
    return {other.count < 0 ? INT64_MAX : INT64_MIN};
  }
  constexpr Nanos& operator+=(Nanos other) { return *this = *this + other; }
  constexpr double micros() const { return static_cast<double>(count) / 1e3; }
  constexpr double millis() const { return static_cast<double>(count) / 1e6; }
};

constexpr double seconds_of(Nanos time) { return static_cast<double>(time.count) / 1e9; }

constexpr double ratio(Nanos part, Nanos whole) {
  return whole.count == 0 ? 0.0
                          : static_cast<double>(part.count) / static_cast<double>(whole.count);
}

// value / 10^digits without rounding: 1234567 with 3 digits is "1234.567", 1500 is "1.5".
std::string exact_decimal(int64_t value, int digits);

// 25228 as "25,228".
std::string with_thousands(int64_t value);

}  // namespace fathom
