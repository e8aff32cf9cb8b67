#include "sheets/counter_sheets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>

#include "base/hash.h"
#include "base/kernel_name.h"
#include "base/utf8.h"
#include "events/statistics.h"
#include "measure/counter_columns.h"
#include "sheets/op_columns.h"

namespace fathom {
namespace {

constexpr size_t kTopStalls = 3;

std::optional<std::string> dims_text(const std::optional<Dim3>& dims,
                                     const std::optional<int64_t>& total,
                                     std::string_view of_what) {
  if (dims) return fmt::format("({}, {}, {})", dims->x, dims->y, dims->z);
  if (total) return fmt::format("{} {}", *total, of_what);
  return {};
}

// The columns that counters fill, as means over rows.
class CounterCells {
 public:
  explicit CounterCells(Table& table)
      : duration_(table.time_column("Counted duration (µs)", Unit::kMicros)) {
    for (const CounterColumn& column : counter_columns()) {
      using Kind = CounterColumn::Kind;
      if (!column.is_shown) continue;
      places_.push_back(static_cast<size_t>(&column - counter_columns().data()));
      columns_.push_back(&table.real_column(std::string(column.header),
                                            column.kind == Kind::kPercent     ? Unit::kPercent
                                            : column.kind == Kind::kMegabytes ? Unit::kMegabytes
                                                                              : Unit::kNone));
    }
    registers_ = &table.count_column("Registers per thread");
    stalls_ = &table.text_column("Top stall reasons");
  }

  void add(const CounterSet& set, const CounterColumnReader& reader,
           const std::vector<CounterRowId>& rows) {
    std::vector<Nanos> durations;
    std::optional<int64_t> registers;
    for (const CounterRowId row : rows) {
      if (const auto duration = set.row(row).duration) durations.push_back(*duration);
      if (set.row(row).registers) registers = set.row(row).registers;
    }
    if (durations.empty()) {
      duration_.add_unknown();
    } else {
      const TimeStatistics times = summarize(std::move(durations));
      duration_.add(Nanos{std::llround(times.mean)});
    }
    for (size_t i = 0; i < columns_.size(); ++i) columns_[i]->add(mean(reader, rows, places_[i]));
    registers_->add(registers);
    const std::string stalls = stalls_text(reader, rows);
    stalls.empty() ? stalls_->add_unknown() : stalls_->add(stalls);
  }

  void add_unknown() {
    duration_.add_unknown();
    for (Column* column : columns_) column->add_unknown();
    registers_->add_unknown();
    stalls_->add_unknown();
  }

 private:
  static std::optional<double> mean(const CounterColumnReader& reader,
                                    const std::vector<CounterRowId>& rows, size_t column) {
    double sum = 0;
    size_t count = 0;
    for (const CounterRowId row : rows) {
      const std::optional<double> value = reader.value(row, column);
      if (!value) continue;
      sum += *value;
      ++count;
    }
    if (count == 0) return {};
    return sum / static_cast<double>(count);
  }

  // "long_scoreboard 42 %, barrier 28 %, wait 9 %"
  static std::string stalls_text(const CounterColumnReader& reader,
                                 const std::vector<CounterRowId>& rows) {
    std::map<std::string_view, double> shares;
    size_t count = 0;
    for (const CounterRowId row : rows) {
      const auto stalls = reader.stalls(row);
      count += !stalls.empty();
      for (const CounterColumnReader::Stall& stall : stalls) shares[stall.reason] += stall.share;
    }
    std::vector<std::pair<double, std::string_view>> sorted;
    sorted.reserve(shares.size());
    for (const auto& [reason, share] : shares) sorted.emplace_back(-share, reason);
    std::ranges::sort(sorted);
    std::string text;
    for (size_t i = 0; i < std::min(sorted.size(), kTopStalls); ++i) {
      if (i > 0) text += ", ";
      text += fmt::format("{} {:.0f} %", sorted[i].second,
                          -100 * sorted[i].first / static_cast<double>(count));
    }
    return text;
  }

  Column& duration_;
  std::vector<Column*> columns_;
  std::vector<size_t> places_;  // of each in counter_columns()
  Column* registers_ = nullptr;
  Column* stalls_ = nullptr;
};

// A name in a line for each value would repeat without end.
std::string short_name(std::string_view kernel) {
  constexpr size_t kShown = 80;
  return cut_to_bytes(normal_kernel_name(kernel).base(), kShown);
}

struct CountedGroup {
  CounterRow first;
  std::vector<CounterRowId> rows;
  Nanos time;
};

std::vector<CountedGroup> group_counted(const CounterSet& set) {
  std::vector<CountedGroup> groups;
  std::unordered_map<std::string, size_t, TableHash> index;
  for (CounterRowId id(0); id.index < set.size(); ++id.index) {
    const CounterRow& row = set.row(id);
    const std::string key =
        fmt::format("{}\x1f{}\x1f{}\x1f{}\x1f{}", row.kernel.index,
                    dims_text(row.grid, row.grid_blocks, "").value_or(""),
                    dims_text(row.block, row.block_threads, "").value_or(""),
                    dims_text(row.cluster, {}, "").value_or(""), row.registers.value_or(-1));
    const auto [found, is_new] = index.try_emplace(key, groups.size());
    if (is_new) groups.push_back({row, {}, {}});
    groups[found->second].rows.push_back(id);
    groups[found->second].time += row.duration.value_or(Nanos{});
  }
  std::ranges::stable_sort(
      groups, [](const CountedGroup& a, const CountedGroup& b) { return b.time < a.time; });
  return groups;
}

std::vector<CounterColumnReader> readers_of(const std::vector<const CounterSet*>& sets) {
  std::vector<CounterColumnReader> readers;
  readers.reserve(sets.size());
  for (const CounterSet* set : sets) readers.emplace_back(*set);
  return readers;
}

}  // namespace

std::vector<LaunchGroup> group_launches(const SheetInput& input) {
  std::vector<LaunchGroup> groups;
  std::unordered_map<KernelLaunch, size_t, KernelLaunchHash> index;
  for (EventId event : all_selected(input)) {
    if (input.store.kind(event) != EventKind::kKernel) continue;
    const KernelLaunch launch = kernel_launch(input.store, event);
    const auto [found, is_new] = index.try_emplace(launch, groups.size());
    if (is_new) groups.push_back({launch, event, {}, {}});
    LaunchGroup& group = groups[found->second];
    group.first = std::min(group.first, event);
    group.events.push_back(event);
    group.time += input.store.duration(event);
  }
  std::ranges::sort(groups, [](const LaunchGroup& a, const LaunchGroup& b) {
    return std::tie(b.time, a.first) < std::tie(a.time, b.first);
  });
  return groups;
}

std::vector<CounterRowId> counted_rows(const SheetInput& input, const JoinedCounters& joined) {
  std::vector<CounterRowId> all, good;
  for (size_t i = 0; i < joined.rows.size(); ++i) {
    if (!joined.events.empty() && !input.selection.contains(joined.events[i])) continue;
    all.push_back(joined.rows[i]);
    if (!joined.is_slow[i]) good.push_back(joined.rows[i]);
  }
  return good.empty() ? all : good;
}

std::string_view quality_text(JoinQuality quality) {
  switch (quality) {
    case JoinQuality::kNone:
      return "none";
    case JoinQuality::kAmbiguous:
      return "ambiguous";
    case JoinQuality::kByKey:
      return "by key";
    case JoinQuality::kExact:
      return "exact";
  }
  return "";
}

std::string_view trust_text(const JoinedCounters& joined) {
  if (!joined.trusted) return "duration unknown";
  if (*joined.trusted) return "yes";
  return joined.slow_rows == joined.rows.size() ? "no" : "in part";
}

Table kernel_counters_sheet(const SheetInput& input) {
  const CounterJoin& join = *input.kernels.counters();
  std::vector<const CounterSet*> sets;
  for (const CounterJoin::File& file : join.files()) sets.push_back(&file.file->set);
  const std::vector<CounterColumnReader> readers = readers_of(sets);
  Table table("kernel_counters");
  Column& kernel = table.text_column("Kernel name");
  Column& grid = table.text_column("Grid");
  Column& block = table.text_column("Block");
  Column& count = table.count_column("Count");
  Column& time = table.time_column("Time (µs)", Unit::kMicros);
  Column& source = table.text_column("Counters from");
  Column& launches = table.count_column("Launches counted");
  Column& quality = table.text_column("Join");
  Column& trusted = table.text_column("Trusted");
  CounterCells cells(table);
  RepeatBudget repeats;
  for (const LaunchGroup& group : group_launches(input)) {
    const auto add_kernel = [&] {
      kernel.add(text_cell(input.store, group.launch.name, repeats));
      grid.add(dims_text(group.launch.grid, {}, ""));
      block.add(dims_text(group.launch.block, {}, ""));
      count.add(static_cast<int64_t>(group.events.size()));
      time.add(group.time);
    };
    bool has_any = false;
    for (size_t file = 0; file < sets.size(); ++file) {
      const JoinedCounters& joined = join.find(file, group.launch);
      if (joined.quality == JoinQuality::kNone) continue;
      has_any = true;
      add_kernel();
      source.add(join.files()[file].file->name);
      quality.add(quality_text(joined.quality));
      if (joined.quality == JoinQuality::kAmbiguous) {
        launches.add_unknown();
        trusted.add_unknown();
        cells.add_unknown();
        continue;
      }
      const std::vector<CounterRowId> rows = counted_rows(input, joined);
      launches.add(static_cast<int64_t>(rows.size()));
      trusted.add(trust_text(joined));
      cells.add(*sets[file], readers[file], rows);
    }
    if (has_any) continue;
    add_kernel();
    source.add_unknown();
    launches.add_unknown();
    quality.add(quality_text(JoinQuality::kNone));
    trusted.add_unknown();
    cells.add_unknown();
  }
  return table;
}

Table kernel_counters_sheet(const std::vector<CounterFile>& files) {
  Table table("kernel_counters");
  Column& source = table.text_column("Counters from");
  Column& kernel = table.text_column("Kernel name");
  Column& grid = table.text_column("Grid");
  Column& block = table.text_column("Block");
  Column& cluster = table.text_column("Cluster");
  Column& launches = table.count_column("Launches counted");
  Column& time = table.time_column("Time (µs)", Unit::kMicros);
  CounterCells cells(table);
  for (const CounterFile& file : files) {
    const CounterColumnReader reader(file.set);
    RepeatBudget repeats;
    for (const CountedGroup& group : group_counted(file.set)) {
      const std::string_view name = file.set.text(group.first.kernel);
      source.add(file.name);
      kernel.add(repeats.allows(group.first.kernel.index, name.size())
                     ? name
                     : name.substr(0, RepeatBudget::kShortenedBytes));
      grid.add(dims_text(group.first.grid, group.first.grid_blocks, "blocks"));
      block.add(dims_text(group.first.block, group.first.block_threads, "threads"));
      cluster.add(dims_text(group.first.cluster, {}, ""));
      launches.add(static_cast<int64_t>(group.rows.size()));
      group.time > Nanos{} ? time.add(group.time) : time.add_unknown();
      cells.add(file.set, reader, group.rows);
    }
  }
  return table;
}

Table counters_sheet(const std::vector<CounterFile>& files, size_t limit, size_t& left_out) {
  Table table("counters");
  Column& source = table.text_column("Counters from");
  Column& launch = table.count_column("Launch");
  Column& kernel = table.text_column("Kernel");
  Column& grid = table.text_column("Grid");
  Column& block = table.text_column("Block");
  Column& section = table.text_column("Section");
  Column& metric = table.text_column("Metric");
  Column& unit = table.text_column("Unit");
  Column& value = table.real_column("Value");
  left_out = 0;
  for (const CounterFile& file : files) {
    const CounterSet& set = file.set;
    for (CounterRowId id(0); id.index < set.size(); ++id.index) {
      const CounterRow& row = set.row(id);
      const std::string name = short_name(set.text(row.kernel));
      const auto grid_cell = dims_text(row.grid, row.grid_blocks, "blocks");
      const auto block_cell = dims_text(row.block, row.block_threads, "threads");
      for (const MetricValue& counted : set.values(id)) {
        if (table.rows() == limit) {
          ++left_out;
          continue;
        }
        const auto text = [&set](Column& column, StringId cell) {
          cell.valid() ? column.add(set.text(cell)) : column.add_unknown();
        };
        source.add(file.name);
        row.launch ? launch.add(*row.launch) : launch.add(static_cast<int64_t>(id.index));
        kernel.add(name);
        grid.add(grid_cell);
        block.add(block_cell);
        text(section, set.metric(counted.metric).section);
        text(metric, set.metric(counted.metric).name);
        text(unit, set.metric(counted.metric).unit);
        value.add(counted.value);
      }
    }
  }
  return table;
}

}  // namespace fathom
