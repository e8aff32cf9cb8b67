#include "plan/ablate/correctness.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace fathom::ablate {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

template <class T>
std::vector<double> values_in(std::string_view bytes) {
  std::vector<double> values(bytes.size() / sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = double{value};
  }
  return values;
}

std::vector<double> values_of(std::string_view text, OutputFormat format) {
  if (format == OutputFormat::kFloat32) return values_in<float>(text);
  if (format == OutputFormat::kFloat64) return values_in<double>(text);
  return numbers_in(text);
}

Compared wrong(std::string reason, size_t count) { return {false, std::move(reason), count, {}}; }

Compared compare_bytes(std::string_view got, std::string_view expected) {
  const size_t both = std::min(got.size(), expected.size());
  const size_t at = static_cast<size_t>(
      std::mismatch(got.begin(), got.begin() + static_cast<std::ptrdiff_t>(both), expected.begin())
          .first -
      got.begin());
  if (at < both) return wrong(fmt::format("byte {} differs", at), both);
  if (got.size() != expected.size())
    return wrong(fmt::format("{} bytes where {} are expected", got.size(), expected.size()), both);
  return {true, {}, both, 0.0};
}

Compared compare_norm(const std::vector<double>& got, const std::vector<double>& expected,
                      double limit) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    difference += (got[i] - expected[i]) * (got[i] - expected[i]);
    norm += expected[i] * expected[i];
  }
  const double error = norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
  if (error <= limit) return {true, {}, got.size(), error};
  Compared result =
      wrong(fmt::format("relative error {:.3g}, limit {:.3g}", error, limit), got.size());
  if (!std::isnan(error)) result.largest_error = error;
  return result;
}

}  // namespace

std::vector<double> numbers_in(std::string_view text) {
  constexpr std::string_view kBefore = "=:,;([{|", kAfter = ",;)]}|";
  std::vector<double> values;
  size_t at = 0;
  while (at < text.size()) {
    const bool may_begin =
        at == 0 || is_blank(text[at - 1]) || (kBefore.find(text[at - 1]) != std::string_view::npos);
    const bool has_plus = text[at] == '+' && at + 1 < text.size() && text[at + 1] != '-';
    double value = 0;
    const auto [end, error] =
        std::from_chars(text.data() + at + (has_plus ? 1 : 0), text.data() + text.size(), value);
    const auto after = static_cast<size_t>(end - text.data());
    const bool is_number = error == std::errc() || error == std::errc::result_out_of_range;
    const bool ends = is_number && (after == text.size() || is_blank(text[after]) ||
                                    (kAfter.find(text[after]) != std::string_view::npos));
    if (may_begin && ends) {
      // Out of range: too large or too small, which from_chars does not tell apart.
      values.push_back(error == std::errc() ? value : HUGE_VAL);
      at = after;
    } else if (may_begin && is_number) {
      at = after;  // "3x": its digits are no number, and are not looked at again
    } else {
      ++at;
    }
  }
  return values;
}

Compared compare_output(std::string_view got, std::string_view expected, const Check& check) {
  if (check.format == OutputFormat::kBytes) return compare_bytes(got, expected);
  const size_t width = check.format == OutputFormat::kFloat32   ? sizeof(float)
                       : check.format == OutputFormat::kFloat64 ? sizeof(double)
                                                                : 1;
  if (got.size() % width != 0)
    return wrong(fmt::format("{} bytes are no whole number of values", got.size()), 0);
  const std::vector<double> values = values_of(got, check.format);
  const std::vector<double> wanted = values_of(expected, check.format);
  if (wanted.empty()) return wrong("the reference has no numbers", 0);
  if (values.size() != wanted.size())
    return wrong(fmt::format("{} numbers where {} are expected", values.size(), wanted.size()), 0);
  if (check.norm) return compare_norm(values, wanted, *check.norm);
  Compared result{true, {}, values.size(), 0.0};
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i]) && std::isnan(wanted[i])) continue;
    if (values[i] == wanted[i]) continue;  // infinities too
    const double error = std::abs(values[i] - wanted[i]);
    if (error <= check.absolute + check.relative * std::abs(wanted[i]) &&
        std::isfinite(wanted[i])) {
      result.largest_error = std::max(*result.largest_error, error);
      continue;
    }
    return wrong(
        fmt::format("value {} is {:.6g} where {:.6g} is expected", i + 1, values[i], wanted[i]),
        values.size());
  }
  return result;
}

}  // namespace fathom::ablate
