#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/units.h"

namespace fathom {

// What a column's numbers mean; renderers choose the number format by it.
enum class Unit : uint8_t {
  kNone,
  kCount,
  kMicros,
  kMillis,
  kPercent,
  kMegabytes,
  kGigabytesPerSecond
};

// One typed column. A cell may be unknown, which is not 0: it is written as nothing.
class Column {
 public:
  using Text = std::vector<std::string>;
  using Integers = std::vector<int64_t>;
  using Reals = std::vector<double>;
  using Times = std::vector<Nanos>;  // exact; shown in the column's unit

  template <typename Values>
  Column(std::string name, Unit unit, Values values)
      : name_(std::move(name)), unit_(unit), values_(std::move(values)) {}

  const std::string& name() const { return name_; }
  Unit unit() const { return unit_; }
  size_t size() const { return known_.size(); }
  bool is_text() const { return std::holds_alternative<Text>(values_); }
  bool known(size_t row) const { return known_[row]; }

  Column& add(std::string_view text);
  Column& add(int64_t value);
  Column& add(double value);  // unknown where it is no number or infinite
  Column& add(Nanos value);
  Column& add_unknown();
  template <typename T>
  Column& add(const std::optional<T>& value) {
    return value ? add(*value) : add_unknown();
  }

  // Plain text of a cell as CSV shows it, exact or shortest round trip; empty when unknown.
  std::string cell(size_t row) const;
  std::string_view text(size_t row) const { return std::get<Text>(values_)[row]; }
  // The number in the column's unit.
  double number(size_t row) const;

 private:
  std::string name_;
  Unit unit_;
  std::variant<Text, Integers, Reals, Times> values_;
  std::vector<bool> known_;
};

// The one thing that every renderer writes. Built once by a sheet, then only read.
class Table {
 public:
  explicit Table(std::string name) : name_(std::move(name)) {}

  Column& text_column(std::string name);
  Column& count_column(std::string name);
  Column& real_column(std::string name, Unit unit = Unit::kNone);
  Column& time_column(std::string name, Unit unit);

  const std::string& name() const { return name_; }
  size_t rows() const { return columns_.empty() ? 0 : columns_.front().size(); }
  // A deque: a column's address holds while others are added.
  const std::deque<Column>& columns() const { return columns_; }

 private:
  std::string name_;
  std::deque<Column> columns_;
};

}  // namespace fathom
