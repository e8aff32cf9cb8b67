#include "trial/fit.h"

#include <algorithm>
#include <cmath>

namespace fathom {
namespace {

// A line has two parameters: three points leave one residual, which tests nothing.
constexpr size_t kFewestPoints = 4;

struct Line {
  double a = 0, b = 0;
  std::optional<double> b_error;
};

std::optional<Line> least_squares(std::span<const double> x, std::span<const double> y) {
  const double n = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0;
  for (size_t i = 0; i < x.size(); ++i) mean_x += x[i] / n, mean_y += y[i] / n;
  double xx = 0, xy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  if (!(xx > 0) || !std::isfinite(xx) || !std::isfinite(xy)) return std::nullopt;
  Line line;
  line.b = xy / xx;
  line.a = mean_y - line.b * mean_x;
  if (x.size() > 2) {
    double squares = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double off = y[i] - line.a - line.b * x[i];
      squares += off * off;
    }
    line.b_error = std::sqrt(squares / (n - 2) / xx);
  }
  return line;
}

bool all_positive(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return value > 0; });
}

std::vector<double> logarithms(std::span<const double> values) {
  std::vector<double> out;
  for (const double value : values) out.push_back(std::log(value));
  return out;
}

void judge(std::span<const double> x, std::span<const double> y, Fit& fit) {
  double mean = 0, around_mean = 0, around_fit = 0;
  for (const double value : y) mean += value / static_cast<double>(y.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const double off = y[i] - fit.at(x[i]);
    fit.residuals.push_back(off);
    around_fit += off * off;
    around_mean += (y[i] - mean) * (y[i] - mean);
    if (y[i] != 0) fit.worst_share = std::max(fit.worst_share, std::abs(off / y[i]));
  }
  fit.r_squared = around_mean > 0 ? 1 - around_fit / around_mean : 1;
}

size_t different(std::span<const double> x) {
  std::vector<double> sorted(x.begin(), x.end());
  std::sort(sorted.begin(), sorted.end());
  return static_cast<size_t>(std::unique(sorted.begin(), sorted.end()) - sorted.begin());
}

}  // namespace

double Fit::at(double x) const {
  switch (kind) {
    case FitKind::kConstant:
      return a;
    case FitKind::kLinear:
      return a + b * x;
    case FitKind::kPower:
      return a * std::pow(x, b);
  }
  return 0;
}

std::optional<Fit> fit_points(FitKind kind, std::span<const double> x, std::span<const double> y) {
  if (x.size() != y.size() || x.size() < 2 || different(x) < 2) return std::nullopt;
  Fit fit;
  fit.kind = kind;
  if (kind == FitKind::kConstant) {
    for (const double value : y) fit.a += value / static_cast<double>(y.size());
  } else {
    const bool is_power = kind == FitKind::kPower;
    if (is_power && !(all_positive(x) && all_positive(y))) return std::nullopt;
    const std::optional<Line> line =
        is_power ? least_squares(logarithms(x), logarithms(y)) : least_squares(x, y);
    if (!line) return std::nullopt;
    fit.a = is_power ? std::exp(line->a) : line->a;
    fit.b = line->b;
    fit.b_error = line->b_error;
  }
  judge(x, y, fit);
  return fit;
}

std::optional<Fit> best_fit(std::span<const double> x, std::span<const double> y) {
  if (x.size() != y.size() || different(x) < kFewestPoints) return std::nullopt;
  const std::optional<Fit> linear = fit_points(FitKind::kLinear, x, y);
  if (!linear) return std::nullopt;
  const auto [least, most] = std::minmax_element(y.begin(), y.end());
  const bool is_flat = *most - *least <= 0.02 * std::abs(*most);
  // Twice the error: the slope could as well be none.
  const bool is_noise =
      linear->b_error && std::abs(linear->b) <= 2 * *linear->b_error && linear->r_squared < 0.5;
  if (is_flat || is_noise) return fit_points(FitKind::kConstant, x, y);
  const std::optional<Fit> power = fit_points(FitKind::kPower, x, y);
  // Both have two parameters; a line is what a fixed cost and a cost for each unit give.
  const bool is_clearly_better =
      power && linear->worst_share > 0.02 && power->worst_share < linear->worst_share / 2;
  return is_clearly_better ? power : linear;
}

}  // namespace fathom
