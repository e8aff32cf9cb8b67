#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "events/counter_set.h"

namespace fathom {

// A column that reports show of a kernel's counters, whatever tool counted them (data/metrics).
struct CounterColumn {
  enum class Kind : uint8_t { kPercent, kMegabytes, kNumber };
  std::string_view id, header;
  Kind kind = Kind::kNumber;
  std::string_view set;      // of counter_sets.tsv that counts it
  bool is_shown = false;     // a column of kernel_counters
  bool is_share = false;     // of a whole: 0 to 100 %
  bool beyond_full = false;  // `ncu --set full` does not count it
  // Metrics that give it, for the command lines of Nsight Compute and rocprofv3; empty: none does.
  std::vector<std::string_view> ncu = {}, rocprof = {};
};
std::span<const CounterColumn> counter_columns();

// Finds the columns' values in one set of counters. Names are looked up once for the set.
class CounterColumnReader {
 public:
  // The set must outlive it.
  explicit CounterColumnReader(const CounterSet& set);

  // By position in counter_columns(), in the column's unit. Unknown where the launch lacks a
  // metric.
  std::optional<double> value(CounterRowId row, size_t column) const;
  // A metric has a value that no hardware counts, which value() leaves unknown.
  bool is_impossible(CounterRowId row, size_t column) const;

  struct Stall {
    std::string_view reason;  // "long_scoreboard"
    double share = 0;         // of all reasons, 0 to 1
  };
  // Why warps did not issue, the most frequent first. With `with_zeros` also reasons that were
  // counted and never seen.
  std::vector<Stall> stalls(CounterRowId row, bool with_zeros = false) const;

 private:
  struct Term {
    std::vector<MetricId> metrics;  // of this name; more than one where tables differ in unit
    double weight = 1;
  };
  struct Formula {
    std::vector<Term> value, over;
  };
  struct Reason {
    MetricId metric;
    std::string_view name;
    bool is_stall = true;
  };

  struct ColumnValue {
    std::optional<double> value;
    bool had_impossible = false;
  };
  ColumnValue compute(CounterRowId row, size_t column) const;
  std::optional<double> find(CounterRowId row, MetricId metric) const;
  std::optional<double> sum(CounterRowId row, const std::vector<Term>& terms) const;

  const CounterSet& set_;
  std::vector<std::vector<Formula>> formulas_;  // by column, the first that fits counts
  std::vector<std::vector<Reason>> families_;
};

// Notes in the set's diagnostics which values the columns leave unknown as impossible.
void note_impossible_values(CounterSet& set);

}  // namespace fathom
