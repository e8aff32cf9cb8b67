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
  // Wraps around: times from a hostile trace may add up to anything, and must not be undefined.
  constexpr Nanos operator+(Nanos other) const {
    return {
        static_cast<int64_t>(static_cast<uint64_t>(count) + static_cast<uint64_t>(other.count))};
  }
  constexpr Nanos operator-(Nanos other) const {
    return {
        static_cast<int64_t>(static_cast<uint64_t>(count) - static_cast<uint64_t>(other.count))};
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
