#include "ingest/rocprof/counter_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "base/csv_text.h"
#include "base/hash.h"
#include "base/read_all.h"
#include "ingest/rocprof/counter_columns.h"

namespace fathom::rocprof::counters {
namespace {

std::string_view first_line(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  return text.substr(0, text.find('\n'));
}

std::optional<int64_t> integer(std::string_view text) {
  // An agent may be written "Agent 4".
  const size_t digit = text.find_first_of("0123456789");
  if (digit == std::string_view::npos) return {};
  double value = 0;
  if (!parse_number(text.substr(digit), DecimalMark::kPoint, value)) return {};
  if (value < 0 || value > 9e15) return {};
  return std::llround(value);
}

// A spreadsheet rounds a time to 8.1097E+14: of such a text nothing can be told.
std::optional<int64_t> timestamp(std::string_view text) {
  if (text.empty() || text.find_first_of("eE") != std::string_view::npos) return {};
  int64_t value = 0;
  for (const char c : text) {
    if (c == '.') break;  // a fraction of a nanosecond
    if (c < '0' || c > '9' || value > INT64_MAX / 10 - 1) return {};
    value = value * 10 + (c - '0');
  }
  return value;
}

class CounterTable {
 public:
  explicit CounterTable(std::string_view header) {
    split_csv(header, record_);
    names_ = record_.fields;
    std::unordered_set<std::string_view, TableHash> seen;
    for (const std::string& name : names_) {
      roles_.push_back(column_of(name));
      if (seen.insert(name).second || roles_.back() != CounterColumn::kCounter) continue;
      roles_.back() = CounterColumn::kIgnored;
      repeated_.push_back(name);
    }
    find_sums();
  }

  void note_repeated_columns(CounterSetBuilder& builder) const {
    for (const std::string& name : repeated_)
      builder.diagnostics().add(Flaw::kRepeatedColumn, name);
  }

  bool has(CounterColumn role) const { return std::ranges::find(roles_, role) != roles_.end(); }
  bool is_long() const {
    return has(CounterColumn::kCounterName) && has(CounterColumn::kCounterValue);
  }
  // A kernel with its launch, and counters of it. What has times and no counters is a trace.
  bool is_known() const {
    const bool is_dispatch =
        has(CounterColumn::kKernel) && has(CounterColumn::kDispatch) && has(CounterColumn::kGrid);
    return is_dispatch && (is_long() || has(CounterColumn::kCounter));
  }
  bool is_compute() const {
    return !is_long() && std::ranges::any_of(names_, [](const std::string& name) {
      return name.ends_with(']') || name.starts_with("Wave_Size_");
    });
  }
  bool is_v1() const { return std::ranges::find(names_, "KernelName") != names_.end(); }

  void read(std::string_view line, CounterSetBuilder& builder) {
    split_csv(line, record_);
    if (record_.unclosed || record_.fields.size() != names_.size()) {
      builder.diagnostics().add(Flaw::kCounterRowDamaged, line.substr(0, 200));
      return;
    }
    const Launch launch = launch_of(builder);
    if (is_long()) {
      const CounterRowId row = row_of(launch, builder);
      add(row, launch.counter, launch.value, builder);
      return;
    }
    const CounterRowId row = builder.add_row(launch.row);
    std::vector<std::optional<double>> sums(sum_names_.size());
    for (size_t i = 0; i < names_.size(); ++i) {
      if (roles_[i] != CounterColumn::kCounter) continue;
      const std::optional<double> value = add(row, names_[i], record_.fields[i], builder);
      if (value && sum_of_[i]) sums[*sum_of_[i]] = sums[*sum_of_[i]].value_or(0) + *value;
    }
    for (size_t i = 0; i < sums.size(); ++i) {
      if (sums[i]) builder.add_value(row, builder.metric(sum_names_[i], ""), *sums[i]);
    }
  }

 private:
  struct Launch {
    CounterRow row;
    std::string key;
    std::string_view counter, value;
  };

  Launch launch_of(CounterSetBuilder& builder) {
    Launch launch;
    CounterRow& row = launch.row;
    std::optional<int64_t> grid, group, start, end, accumulators;
    std::optional<int64_t> grid_dims[3], group_dims[3];
    for (size_t i = 0; i < names_.size(); ++i) {
      const std::string_view cell = record_.fields[i];
      switch (roles_[i]) {
        case CounterColumn::kDispatch:
          row.launch = integer(cell);
          break;
        case CounterColumn::kDevice:
          row.device = integer(cell);
          break;
        case CounterColumn::kQueue:
          row.stream = integer(cell);
          break;
        case CounterColumn::kProcess:
          row.process = integer(cell);
          break;
        case CounterColumn::kGrid:
          grid = integer(cell);
          break;
        case CounterColumn::kGroup:
          group = integer(cell);
          break;
        case CounterColumn::kGridX:
        case CounterColumn::kGridY:
        case CounterColumn::kGridZ:
          grid_dims[static_cast<size_t>(roles_[i]) - static_cast<size_t>(CounterColumn::kGridX)] =
              integer(cell);
          break;
        case CounterColumn::kGroupX:
        case CounterColumn::kGroupY:
        case CounterColumn::kGroupZ:
          group_dims[static_cast<size_t>(roles_[i]) - static_cast<size_t>(CounterColumn::kGroupX)] =
              integer(cell);
          break;
        case CounterColumn::kShared:
          // What was allocated, rounded up: not the sum that a trace has.
          row.dynamic_shared = integer(cell);
          break;
        case CounterColumn::kRegisters:
          row.registers = integer(cell);
          break;
        case CounterColumn::kAccumulators:
          accumulators = integer(cell);
          break;
        case CounterColumn::kKernel:
          row.kernel = builder.intern(cell);
          break;
        case CounterColumn::kStart:
          start = timestamp(cell);
          break;
        case CounterColumn::kEnd:
          end = timestamp(cell);
          break;
        case CounterColumn::kDuration:
          if (const auto time = timestamp(cell)) row.duration = Nanos{*time};
          break;
        case CounterColumn::kCounterName:
          launch.counter = cell;
          break;
        case CounterColumn::kCounterValue:
          launch.value = cell;
          break;
        case CounterColumn::kCounter:
        case CounterColumn::kIgnored:
          break;
      }
    }
    if (row.registers && accumulators) row.registers = *row.registers + *accumulators;
    if (start) row.start = Nanos{*start};
    if (start && end && *end > *start) row.duration = Nanos{*end - *start};
    if (start && end && *end < *start)
      builder.diagnostics().add(Flaw::kCounterValueUnreadable, "End_Timestamp");
    set_shape(row, grid, group, grid_dims, group_dims);
    if (is_long()) {
      // A launch comes again in each pass, under the same number.
      launch.key = fmt::format("{}/{}/{}/{}", row.process.value_or(-1), row.device.value_or(-1),
                               row.launch.value_or(-1), row.kernel.index);
    }
    return launch;
  }

  // Work-items to groups: a grid that is no multiple has a last group that is not full.
  static void set_shape(CounterRow& row, std::optional<int64_t> grid, std::optional<int64_t> group,
                        const std::optional<int64_t> (&grid_dims)[3],
                        const std::optional<int64_t> (&group_dims)[3]) {
    const auto groups = [](int64_t items, int64_t size) { return (items + size - 1) / size; };
    if (group && *group > 0) {
      row.block_threads = group;
      if (grid && *grid > 0) row.grid_blocks = groups(*grid, *group);
    }
    Dim3 blocks, threads;
    uint32_t Dim3::* const parts[] = {&Dim3::x, &Dim3::y, &Dim3::z};
    for (size_t i = 0; i < 3; ++i) {
      const bool is_known = grid_dims[i] && group_dims[i] && *group_dims[i] > 0 &&
                            *grid_dims[i] > 0 && *grid_dims[i] <= INT32_MAX &&
                            *group_dims[i] <= INT32_MAX;
      if (!is_known) return;
      blocks.*parts[i] = static_cast<uint32_t>(groups(*grid_dims[i], *group_dims[i]));
      threads.*parts[i] = static_cast<uint32_t>(*group_dims[i]);
    }
    row.grid = blocks;
    row.block = threads;
  }

  CounterRowId row_of(const Launch& launch, CounterSetBuilder& builder) {
    const auto [found, is_new] = rows_.try_emplace(launch.key);
    if (is_new) found->second = builder.add_row(launch.row);
    return found->second;
  }

  static std::optional<double> add(CounterRowId row, std::string_view name, std::string_view text,
                                   CounterSetBuilder& builder) {
    if (text.empty() || text == "nan" || text == "NaN" || name.empty()) return {};
    double value = 0;
    if (!parse_number(text, DecimalMark::kPoint, value)) {
      builder.diagnostics().add(Flaw::kCounterValueUnreadable,
                                fmt::format("{} {}", name.substr(0, 80), text.substr(0, 80)));
      return {};
    }
    const DerivedUnit unit = unit_of(name);
    builder.add_value(row, builder.metric(name, unit.name), value * unit.factor);
    return value * unit.factor;
  }

  struct DerivedUnit {
    std::string_view name;
    double factor = 1;
  };
  // Of rocprof's derived metrics; the counters themselves are plain numbers.
  static DerivedUnit unit_of(std::string_view name) {
    static constexpr std::string_view kPercent[] = {
        "GPUBusy",         "VALUBusy",         "SALUBusy",         "VALUUtilization",
        "MemUnitBusy",     "MemUnitStalled",   "L2CacheHit",       "LDSBankConflict",
        "ALUStalledByLDS", "OccupancyPercent", "WriteUnitStalled", "MfmaUtil"};
    if (name == "FETCH_SIZE" || name == "WRITE_SIZE") return {"byte", 1024};
    return {std::ranges::find(kPercent, name) != std::end(kPercent) ? "%" : "", 1};
  }

  // "TCC_HIT[3]" is of one channel. Their sum gets rocprof's own name for it, TCC_HIT_sum, unless
  // the table has that one.
  void find_sums() {
    const std::unordered_set<std::string_view, TableHash> given(names_.begin(), names_.end());
    std::unordered_map<std::string, size_t, TableHash> places;
    sum_of_.resize(names_.size());
    for (size_t i = 0; i < names_.size(); ++i) {
      const size_t bracket = names_[i].find('[');
      const bool is_channel = roles_[i] == CounterColumn::kCounter &&
                              bracket != std::string::npos && bracket > 0 &&
                              names_[i].ends_with(']');
      if (!is_channel) continue;
      std::string sum = names_[i].substr(0, bracket) + "_sum";
      if (given.contains(sum)) continue;
      const auto [found, is_new] = places.try_emplace(sum, sum_names_.size());
      if (is_new) sum_names_.push_back(std::move(sum));
      sum_of_[i] = found->second;
    }
  }

  std::vector<std::string> names_;
  std::vector<CounterColumn> roles_;
  CsvRecord record_;
  std::unordered_map<std::string, CounterRowId, TableHash> rows_;
  std::vector<std::string> repeated_;          // columns with the name of an earlier one
  std::vector<std::optional<size_t>> sum_of_;  // by column: into sum_names_
  std::vector<std::string> sum_names_;
};

}  // namespace

bool recognises(std::string_view head) {
  const std::string_view line = first_line(head);
  const bool may_be = line.find("Kernel_Name") != std::string_view::npos ||
                      line.find("KernelName") != std::string_view::npos;
  if (!may_be) return false;
  // The header's end may lie behind the head: one of its counters is enough.
  return CounterTable(line).is_known();
}

Result<CounterSet> read(ByteSource& source, const std::string& shown) {
  const WholeText whole = TRY(read_all(source, kMaxBytes));
  std::string_view rest = whole.text;
  if (rest.starts_with("\xef\xbb\xbf")) rest.remove_prefix(3);
  CounterSetBuilder builder;
  builder.origin().input_bytes = static_cast<int64_t>(whole.text.size());
  const std::string_view header = first_line(rest);
  std::optional<CounterTable> table(std::in_place, header);
  if (!table->is_known())
    return Error{fmt::format("{} has no counters of a kernel: its header names none", shown)};
  CounterOrigin& origin = builder.origin();
  origin.tool = table->is_long()      ? "rocprofv3"
                : table->is_compute() ? "rocprof-compute"
                                      : "rocprof";
  origin.form = table->is_long()      ? "counter_collection.csv"
                : table->is_compute() ? "pmc_perf.csv"
                                      : "results.csv";
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    const bool is_cut = line.size() == rest.size() && (whole.cut || whole.truncated);
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    // The files of several passes may have been put one after the other.
    if (recognises(line)) {
      table.emplace(line);
      table->note_repeated_columns(builder);
    } else if (!line.empty() && line != "\r" && !is_cut) {
      table->read(line, builder);
    }
  }
  if (whole.cut) builder.diagnostics().add(Flaw::kSizeLimit);
  if (whole.truncated) builder.diagnostics().add(Flaw::kTruncated);
  if (builder.size() == 0)
    return Error{fmt::format("{} has no counters of a kernel: no row can be read", shown)};
  return std::move(builder).seal();
}

std::optional<SystemFacts> read_sysinfo(std::string_view text) {
  CsvRecord header, row;
  split_csv(first_line(text), header);
  text.remove_prefix(std::min(text.find('\n'), text.size()));
  if (text.empty()) return {};
  split_csv(first_line(text.substr(1)), row);
  SystemFacts facts;
  for (size_t i = 0; i < std::min(header.fields.size(), row.fields.size()); ++i) {
    if (header.fields[i] == "gpu_model") facts.gpu = row.fields[i];
    if (header.fields[i] == "gpu_arch") facts.architecture = row.fields[i];
    if (header.fields[i] == "rocm_version") facts.version = row.fields[i];
  }
  if (facts.gpu.empty() && facts.architecture.empty()) return {};
  return facts;
}

}  // namespace fathom::rocprof::counters
