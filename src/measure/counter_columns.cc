#include "measure/counter_columns.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <tuple>
#include <unordered_map>

#include "base/glob.h"
#include "base/hash.h"
#include "base/tsv.h"

extern const std::string_view counter_columns_tsv, counter_metrics_tsv, counter_stalls_tsv;

namespace fathom {
namespace {

std::vector<CounterColumn> read_columns() {
  std::vector<CounterColumn> columns;
  for (const auto& row : read_tsv(counter_columns_tsv, 6)) {
    using Kind = CounterColumn::Kind;
    columns.push_back({row[0], row[1],
                       row[2] == "%" || row[2] == "share" ? Kind::kPercent
                       : row[2] == "MB"                   ? Kind::kMegabytes
                                                          : Kind::kNumber,
                       row[3], row[4] == "yes", row[2] == "share", row[5] == "yes"});
  }
  return columns;
}

// "64*A + B": weights and names.
struct NamedTerm {
  std::string_view metric;
  double weight = 1;
};
std::vector<NamedTerm> parse_terms(std::string_view text) {
  std::vector<NamedTerm> terms;
  while (!text.empty()) {
    const size_t end = std::min(text.find(" + "), text.size());
    NamedTerm term{text.substr(0, end), 1};
    double weight = 0;
    const auto [stop, error] =
        std::from_chars(term.metric.data(), term.metric.data() + term.metric.size(), weight);
    const auto digits = static_cast<size_t>(stop - term.metric.data());
    if (error == std::errc() && digits < term.metric.size() && term.metric[digits] == '*') {
      term.weight = weight;
      term.metric.remove_prefix(digits + 1);
    }
    terms.push_back(term);
    text.remove_prefix(std::min(end + 3, text.size()));
  }
  return terms;
}

bool fits_chip(std::string_view chips, std::string_view chip) {
  if (chips == "*") return true;
  if (chip.empty()) return false;
  return std::ranges::any_of(
      split(chips, '|'), [chip](std::string_view pattern) { return glob_matches(pattern, chip); });
}

std::vector<std::string_view> metrics_of(std::string_view value, std::string_view over) {
  std::vector<std::string_view> metrics;
  for (const std::string_view terms : {value, over}) {
    for (const NamedTerm& term : parse_terms(terms))
      if (std::ranges::find(metrics, term.metric) == metrics.end()) metrics.push_back(term.metric);
  }
  return metrics;
}

// Names for the tools' command lines, from the rows for any chip. AMD's have neither the "__" of
// NVIDIA's metrics nor the "/" of a page's section; the row with the fewest, which fit one pass.
void name_tool_metrics(std::vector<CounterColumn>& columns) {
  for (const auto& row : read_tsv(counter_metrics_tsv, 5)) {
    const auto column = std::ranges::find(columns, row[0], &CounterColumn::id);
    const bool is_page = row[2].find('/') != std::string_view::npos;
    if (column == columns.end() || row[1] != "*" || is_page) continue;
    const bool is_nvidia = row[2].find("__") != std::string_view::npos;
    std::vector<std::string_view>& known = is_nvidia ? column->ncu : column->rocprof;
    std::vector<std::string_view> metrics = metrics_of(row[2], row[3]);
    if (known.empty() || (!is_nvidia && metrics.size() < known.size())) known = std::move(metrics);
  }
}

// A rate's two counts may come from different runs of the kernel. Where they contradict each other
// the rate says nothing; a little over 100 % is rounding.
std::optional<double> share_of_whole(double percent) {
  constexpr double kRounding = 0.5;
  if (percent < 0 || percent > 100 + kRounding) return {};
  return std::min(percent, 100.0);
}

}  // namespace

std::span<const CounterColumn> counter_columns() {
  static const std::vector<CounterColumn> columns = [] {
    std::vector<CounterColumn> all = read_columns();
    name_tool_metrics(all);
    return all;
  }();
  return columns;
}

CounterColumnReader::CounterColumnReader(const CounterSet& set)
    : set_(set), formulas_(counter_columns().size()) {
  std::unordered_map<std::string, std::vector<MetricId>, TableHash> by_path;
  for (size_t i = 0; i < set.metric_count(); ++i)
    by_path[set.metric_path(MetricId(i))].emplace_back(i);
  const auto resolve = [&](std::string_view text, std::vector<Term>& terms) {
    for (const NamedTerm& named : parse_terms(text)) {
      const auto found = by_path.find(std::string(named.metric));
      if (found == by_path.end()) return false;
      terms.push_back({found->second, named.weight});
    }
    return true;
  };
  for (const auto& row : read_tsv(counter_metrics_tsv, 5)) {
    const auto column = std::ranges::find(counter_columns(), row[0], &CounterColumn::id);
    if (column == counter_columns().end() || !fits_chip(row[1], set.origin().capability)) continue;
    Formula formula;
    if (!resolve(row[2], formula.value) || !resolve(row[3], formula.over)) continue;
    formulas_[static_cast<size_t>(column - counter_columns().begin())].push_back(
        std::move(formula));
  }
  for (const auto& row : read_tsv(counter_stalls_tsv, 4)) {
    const std::vector<std::string_view> issued = split(row[2], '|');
    std::vector<Reason> family;
    for (size_t i = 0; i < set.metric_count(); ++i) {
      std::string_view name = set.metric_name(MetricId(i));
      if (name.size() <= row[0].size() + row[1].size() || !name.starts_with(row[0]) ||
          !name.ends_with(row[1]))
        continue;
      name = name.substr(row[0].size(), name.size() - row[0].size() - row[1].size());
      family.push_back({MetricId(i), name, std::ranges::find(issued, name) == issued.end()});
    }
    if (!family.empty()) families_.push_back(std::move(family));
  }
}

std::optional<double> CounterColumnReader::find(CounterRowId row, MetricId metric) const {
  const std::span<const MetricValue> values = set_.values(row);
  const auto found = std::ranges::lower_bound(values, metric, {}, &MetricValue::metric);
  if (found == values.end() || found->metric != metric) return {};
  return found->value;
}

std::optional<double> CounterColumnReader::sum(CounterRowId row,
                                               const std::vector<Term>& terms) const {
  double total = 0;
  for (const Term& term : terms) {
    std::optional<double> value;
    for (const MetricId metric : term.metrics) {
      value = find(row, metric);
      if (value) break;
    }
    if (!value) return {};
    total += term.weight * *value;
  }
  return total;
}

namespace {

// No hardware counts this: a damaged file, or a metric of another meaning. Throughputs are up to a
// few percent above their peaks where clocks change.
bool is_possible(double value, CounterColumn::Kind kind) {
  constexpr double kMost = 1e18;
  if (!std::isfinite(value) || value < 0 || value > kMost) return false;
  return kind != CounterColumn::Kind::kPercent || value <= 150;
}

}  // namespace

CounterColumnReader::ColumnValue CounterColumnReader::compute(CounterRowId row,
                                                              size_t column) const {
  ColumnValue out;
  for (const Formula& formula : formulas_[column]) {
    std::optional<double> value = sum(row, formula.value);
    if (!value) continue;
    if (!formula.over.empty()) {
      const std::optional<double> over = sum(row, formula.over);
      if (!over || *over == 0) continue;
      *value /= *over;
    }
    if (counter_columns()[column].kind == CounterColumn::Kind::kMegabytes) *value /= 1e6;
    if (is_possible(*value, counter_columns()[column].kind)) {
      out.value = counter_columns()[column].is_share ? share_of_whole(*value) : value;
      break;
    }
    out.had_impossible = true;
  }
  return out;
}

std::optional<double> CounterColumnReader::value(CounterRowId row, size_t column) const {
  return compute(row, column).value;
}

bool CounterColumnReader::is_impossible(CounterRowId row, size_t column) const {
  const ColumnValue found = compute(row, column);
  return found.had_impossible && !found.value;
}

void note_impossible_values(CounterSet& set) {
  Diagnostics found;
  const CounterColumnReader reader(set);
  for (size_t row = 0; row < set.size(); ++row) {
    for (size_t column = 0; column < counter_columns().size(); ++column) {
      if (reader.is_impossible(CounterRowId(row), column))
        found.add(Flaw::kCounterValueUnreadable, counter_columns()[column].header);
    }
  }
  set.note(found);
}

std::vector<CounterColumnReader::Stall> CounterColumnReader::stalls(CounterRowId row,
                                                                    bool with_zeros) const {
  for (const std::vector<Reason>& family : families_) {
    std::vector<Stall> stalls;
    double all = 0;
    for (const Reason& reason : family) {
      const std::optional<double> value = find(row, reason.metric);
      if (!value || *value < 0) continue;
      all += *value;
      if (reason.is_stall && (*value > 0 || with_zeros)) stalls.push_back({reason.name, *value});
    }
    if (stalls.empty() || !std::isfinite(all) || all <= 0) continue;
    for (Stall& stall : stalls) stall.share /= all;
    std::ranges::sort(stalls, [](const Stall& a, const Stall& b) {
      return std::tie(b.share, a.reason) < std::tie(a.share, b.reason);
    });
    return stalls;
  }
  return {};
}

}  // namespace fathom
