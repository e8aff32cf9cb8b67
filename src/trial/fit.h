#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fathom {

// How a measured value grows with what was varied.
enum class FitKind : uint8_t {
  kConstant,  // y = a
  kLinear,    // y = a + b·x
  kPower      // y = a·x^b
};

struct Fit {
  FitKind kind = FitKind::kLinear;
  double a = 0, b = 0;
  std::optional<double> b_error;  // standard error of b; unknown for two points
  double r_squared = 0;           // of y, also for kPower
  double worst_share = 0;         // the largest residual as a share of its y
  std::vector<double> residuals;  // y − fit, in the order of the points
  double at(double x) const;
};

// Least squares; of a power, in logarithms. Nothing for fewer than two different x, and for a power
// where a value is not positive.
std::optional<Fit> fit_points(FitKind kind, std::span<const double> x, std::span<const double> y);

// The simplest that explains the points: a constant where the slope is within its error or the
// change over the range within 2 %, otherwise a line, or a power where that has less than half the
// largest residual. Needs four different x: three points test nothing.
std::optional<Fit> best_fit(std::span<const double> x, std::span<const double> y);

}  // namespace fathom
