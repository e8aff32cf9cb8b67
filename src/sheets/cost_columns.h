#pragma once

#include <string>
#include <vector>

#include "base/table.h"
#include "sheets/op_groups.h"

namespace fathom {

// GFLOPS, Data Moved (MB), FLOPS/Byte; the suffix follows each name.
class CostColumns {
 public:
  CostColumns(Table& table, std::string_view suffix);
  void add(const std::optional<Cost>& cost);

 private:
  Column &flops_, &bytes_, &intensity_;
};

// One rate over the calls of a group. Its columns need not stand together in the sheet.
class RateColumns {
 public:
  RateColumns(Table& table, std::string name) : table_(table), name_(std::move(name)) {}
  void declare(std::initializer_list<std::string_view> suffixes);  // "_mean", "_std" …
  void add(const std::optional<RateStatistics>& rates);

 private:
  Table& table_;
  std::string name_;
  std::vector<std::pair<std::string_view, Column*>> columns_;
};

// Bytes and operations a second, in 10^12.
std::optional<RateStatistics> tera_rates(const std::optional<double>& amount,
                                         std::span<const Nanos> times);

// What the cost was computed from, as one JSON object.
std::string params_json(const Cost& cost);

// The kernels of each call, for summarize_kernels.
std::vector<std::span<const EventId>> kernels_of(std::span<const UnifiedOp* const> calls);

}  // namespace fathom
