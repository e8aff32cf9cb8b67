#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/diagnostics.h"
#include "base/string_pool.h"
#include "events/event.h"

namespace fathom {

using MetricId = StrongId<struct MetricTag>;
using CounterRowId = StrongId<struct CounterRowTag>;

// A metric as the tool names it. Values are in base units, which `unit` names: byte, byte/s, ns, %,
// hz, cycle; empty: a plain number, or unknown.
struct CounterMetric {
  StringId name;
  StringId section;  // of a page with sections, whose metric names are not unique; else invalid
  StringId unit;
};

// One measured kernel launch.
struct CounterRow {
  StringId kernel;    // as the tool shows it: demangled, its function's name, or mangled
  StringId mangled;   // where the tool has it beside that name
  StringId function;  // likewise: the name without scope, template arguments and parameters
  StringId notes;     // what the tool's own rules say, a line each; invalid: nothing
  // Blocks, also where a tool counts work-items. AMD's tools give only totals.
  std::optional<Dim3> grid, block, cluster;
  std::optional<int64_t> grid_blocks, block_threads;
  std::optional<int64_t> registers, static_shared, dynamic_shared;  // bytes
  std::optional<int64_t> device, stream, context, process, launch;  // launch: the tool's own number
  std::optional<int64_t> passes;
  std::optional<Nanos> duration, start;
};

struct MetricValue {
  MetricId metric;
  double value = 0;
};

// What made a set of counters, and on what.
struct CounterOrigin {
  std::string tool;        // "Nsight Compute"
  std::string form;        // "raw page, CSV"
  std::string version;     // the tool's; empty: not known
  std::string gpu;         // as the driver names it; empty: not known
  std::string capability;  // "9.0", "gfx942"; empty: not known
  std::string replay;      // "kernel", "application", "range"; empty: not known
  std::optional<int64_t> multiprocessors;
  int64_t input_bytes = 0;
  // Rows have all that is known of a launch: one without a grid is of work that has none, such as a
  // whole graph.
  bool has_whole_shapes = false;
};

// Hardware counters of kernel launches, in the tool's order. Sealed: read-only.
class CounterSet {
 public:
  const CounterOrigin& origin() const { return origin_; }
  // Learnt after sealing: the machine, from a file beside the counters, and flaws of values.
  void name_machine(std::string gpu, std::string capability, std::string version);
  void note(const Diagnostics& flaws) { diagnostics_.merge(flaws); }
  size_t size() const { return rows_.size(); }
  const CounterRow& row(CounterRowId id) const { return rows_[id.index]; }
  std::span<const MetricValue> values(CounterRowId id) const {
    return std::span(values_).subspan(first_value_[id.index],
                                      first_value_[id.index + 1] - first_value_[id.index]);
  }
  size_t metric_count() const { return metrics_.size(); }
  size_t value_count() const { return values_.size(); }
  const CounterMetric& metric(MetricId id) const { return metrics_[id.index]; }
  std::string_view text(StringId id) const {
    return id.valid() ? strings_.text(id) : std::string_view{};
  }
  std::string_view metric_name(MetricId id) const { return text(metric(id).name); }
  // "GPU Speed Of Light Throughput/Duration"; without a section the name alone.
  std::string metric_path(MetricId id) const;
  const Diagnostics& diagnostics() const { return diagnostics_; }

 private:
  friend class CounterSetBuilder;

  CounterOrigin origin_;
  StringPool strings_;
  std::vector<CounterMetric> metrics_;
  std::vector<CounterRow> rows_;
  std::vector<MetricValue> values_;
  std::vector<size_t> first_value_ = {0};
  Diagnostics diagnostics_;
};

class CounterSetBuilder {
 public:
  CounterOrigin& origin() { return set_.origin_; }
  Diagnostics& diagnostics() { return set_.diagnostics_; }
  StringId intern(std::string_view text) { return set_.strings_.intern(text); }
  std::string_view text(StringId id) const { return set_.text(id); }
  MetricId metric(std::string_view name, std::string_view unit, std::string_view section = {});

  // Values and rows may come in any order: a page with a line for each metric can return to a row.
  CounterRowId add_row(CounterRow row);
  CounterRow& row(CounterRowId id) { return set_.rows_[id.index]; }
  void add_value(CounterRowId row, MetricId metric, double value);
  size_t size() const { return set_.rows_.size(); }

  // Of two values of one metric of one launch, the later counts.
  CounterSet seal() &&;

 private:
  struct CounterMetricHash {
    size_t operator()(const CounterMetric& metric) const;
  };
  struct SameCounterMetric {
    bool operator()(const CounterMetric& a, const CounterMetric& b) const {
      return a.name == b.name && a.section == b.section && a.unit == b.unit;
    }
  };
  struct Entry {
    CounterRowId row;
    MetricValue value;
  };

  CounterSet set_;
  std::vector<Entry> entries_;
  std::unordered_map<CounterMetric, MetricId, CounterMetricHash, SameCounterMetric> metric_ids_;
};

// Where only one of the two forms is known, nothing is made up: a total has no dimensions.
std::optional<int64_t> total_of(const std::optional<Dim3>& dims);

}  // namespace fathom
