#include "base/table.h"

#include <fmt/format.h>

#include <cmath>

#include "base/check.h"

namespace fathom {
namespace {

int decimal_digits(Unit unit) { return unit == Unit::kMillis ? 6 : 3; }

}  // namespace

Column& Column::add(std::string_view text) {
  std::get<Text>(values_).emplace_back(text);
  known_.push_back(true);
  return *this;
}

Column& Column::add(int64_t value) {
  std::get<Integers>(values_).push_back(value);
  known_.push_back(true);
  return *this;
}

Column& Column::add(double value) {
  if (!std::isfinite(value)) return add_unknown();
  std::get<Reals>(values_).push_back(value);
  known_.push_back(true);
  return *this;
}

Column& Column::add(Nanos value) {
  std::get<Times>(values_).push_back(value);
  known_.push_back(true);
  return *this;
}

Column& Column::add_unknown() {
  std::visit([](auto& values) { values.emplace_back(); }, values_);
  known_.push_back(false);
  return *this;
}

std::string Column::cell(size_t row) const {
  if (!known_[row]) return {};
  if (const auto* texts = std::get_if<Text>(&values_)) return (*texts)[row];
  if (const auto* integers = std::get_if<Integers>(&values_))
    return std::to_string((*integers)[row]);
  if (const auto* times = std::get_if<Times>(&values_)) {
    return exact_decimal((*times)[row].count, decimal_digits(unit_));
  }
  return fmt::format("{}", std::get<Reals>(values_)[row]);
}

double Column::number(size_t row) const {
  if (const auto* integers = std::get_if<Integers>(&values_))
    return static_cast<double>((*integers)[row]);
  if (const auto* times = std::get_if<Times>(&values_)) {
    return unit_ == Unit::kMillis ? (*times)[row].millis() : (*times)[row].micros();
  }
  return std::get<Reals>(values_)[row];
}

Column& Table::text_column(std::string name) {
  return columns_.emplace_back(std::move(name), Unit::kNone, Column::Text{});
}

Column& Table::count_column(std::string name) {
  return columns_.emplace_back(std::move(name), Unit::kCount, Column::Integers{});
}

Column& Table::real_column(std::string name, Unit unit) {
  return columns_.emplace_back(std::move(name), unit, Column::Reals{});
}

Column& Table::time_column(std::string name, Unit unit) {
  CHECK(unit == Unit::kMicros || unit == Unit::kMillis);
  return columns_.emplace_back(std::move(name), unit, Column::Times{});
}

}  // namespace fathom
