#pragma once

#include <fmt/format.h>

#include <string>

namespace fathom::ablate {

// "402.6 µs", "29.80 ms", "1.24 s": four digits.
inline std::string time_text(double seconds) {
  const double micros = seconds * 1e6;
  const auto digits = [](double value) {
    return value >= 1000 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3;
  };
  if (micros < 1) return fmt::format("{:.{}f} ns", micros * 1e3, digits(micros * 1e3));
  if (micros < 10'000) return fmt::format("{:.{}f} µs", micros, digits(micros));
  if (micros < 10'000'000) return fmt::format("{:.{}f} ms", micros / 1e3, digits(micros / 1e3));
  return fmt::format("{:.{}f} s", seconds, digits(seconds));
}

}  // namespace fathom::ablate
