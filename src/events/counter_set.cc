#include "events/counter_set.h"

#include <algorithm>
#include <cmath>

#include "base/hash.h"

namespace fathom {

std::string CounterSet::metric_path(MetricId id) const {
  const CounterMetric& m = metric(id);
  std::string path(text(m.section));
  if (!path.empty()) path += '/';
  return path += text(m.name);
}

void CounterSet::name_machine(std::string gpu, std::string capability, std::string version) {
  origin_.gpu = std::move(gpu);
  origin_.capability = std::move(capability);
  origin_.version = std::move(version);
}

size_t CounterSetBuilder::CounterMetricHash::operator()(const CounterMetric& metric) const {
  return TableHash()(metric.name.index, metric.section.index, metric.unit.index);
}

MetricId CounterSetBuilder::metric(std::string_view name, std::string_view unit,
                                   std::string_view section) {
  const CounterMetric wanted{intern(name), section.empty() ? StringId{} : intern(section),
                             unit.empty() ? StringId{} : intern(unit)};
  const auto [found, is_new] = metric_ids_.try_emplace(wanted, MetricId(set_.metrics_.size()));
  if (is_new) set_.metrics_.push_back(wanted);
  return found->second;
}

CounterRowId CounterSetBuilder::add_row(CounterRow row) {
  set_.rows_.push_back(row);
  return CounterRowId(set_.rows_.size() - 1);
}

void CounterSetBuilder::add_value(CounterRowId row, MetricId metric, double value) {
  // Sums of several passes of a program differ: a little below zero is zero.
  const std::string_view unit = set_.text(set_.metric(metric).unit);
  const double rounding = unit == "%" ? 0.5 : unit == "sector" || unit == "inst" ? 16 : 0;
  if (value < 0 && value >= -rounding) value = 0;
  if (!std::isfinite(value) || value < 0) {  // no hardware counts it
    diagnostics().add(Flaw::kCounterValueUnreadable, set_.metric_name(metric).substr(0, 200));
    return;
  }
  entries_.push_back({row, {metric, value}});
}

CounterSet CounterSetBuilder::seal() && {
  for (CounterRow& row : set_.rows_) {
    if (!row.kernel.valid()) row.kernel = intern("");  // a name for those who ask for it
    if (!row.grid_blocks) row.grid_blocks = total_of(row.grid);
    if (!row.block_threads) row.block_threads = total_of(row.block);
  }
  const auto comes_before = [](const Entry& a, const Entry& b) {
    return std::tie(a.row, a.value.metric) < std::tie(b.row, b.value.metric);
  };
  // Most tables have their rows in order.
  if (!std::ranges::is_sorted(entries_, comes_before))
    std::ranges::stable_sort(entries_, comes_before);
  set_.first_value_.assign(set_.rows_.size() + 1, 0);
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    const bool is_replaced = i + 1 < entries_.size() && entries_[i + 1].row == entry.row &&
                             entries_[i + 1].value.metric == entry.value.metric;
    if (is_replaced) continue;
    set_.values_.push_back(entry.value);
    ++set_.first_value_[entry.row.index + 1];
  }
  for (size_t i = 1; i < set_.first_value_.size(); ++i)
    set_.first_value_[i] += set_.first_value_[i - 1];
  return std::move(set_);
}

std::optional<int64_t> total_of(const std::optional<Dim3>& dims) {
  if (!dims) return {};
  // A hostile file's product may pass 64 bits; no GPU's does.
  __extension__ using Wide = unsigned __int128;
  const Wide total = static_cast<Wide>(dims->x) * dims->y * dims->z;
  if (total > static_cast<Wide>(INT64_MAX)) return {};
  return static_cast<int64_t>(total);
}

}  // namespace fathom
