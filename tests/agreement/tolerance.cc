#include "tolerance.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "python_literal.h"

namespace fathom::agreement {
namespace {

double read_number(const Csv& csv, size_t row, std::string_view column) {
  return parse_number(csv.cell(row, column)).value_or(0);
}

std::optional<size_t> find_details(const Csv& csv) {
  for (size_t i = 0; i < csv.header.size(); ++i) {
    if (find_column_kind(csv.header[i]) == ColumnKind::details) return i;
  }
  return std::nullopt;
}

struct RowEvents {
  double all = 0;
  double copies = 0;
};

// Their details leave out ops that ran another number of kernels than the first one did, so the
// counts inside may be too low; entries times ops bounds what they must at least have been.
RowEvents count_row_events(const Csv& csv, size_t row) {
  RowEvents events;
  const auto column = find_details(csv);
  const auto details = column ? parse_python_literal(csv.rows[row][*column]) : std::nullopt;
  if (!details) return events;
  for (const auto& entry : details->items) {
    const Value* count = entry.find("count");
    const Value* name = entry.find("name");
    if (count == nullptr || name == nullptr) continue;
    events.all += count->number;
    if (name->text.starts_with("Memcpy")) events.copies += count->number;
  }
  const double ops = std::max(read_number(csv, row, "operation_count"),
                              read_number(csv, row, "name_count"));  // name_count: family sheets
  events.all = std::max(events.all, ops * static_cast<double>(details->items.size()));
  return events;
}

double look_up(const std::map<std::string, double, std::less<>>& counts, std::string_view key) {
  const auto found = counts.find(key);
  return found == counts.end() ? 0 : found->second;
}

double count_busy_events(std::string_view column, const Csv& theirs, size_t row,
                         const EventCounts& events) {
  // The details name an op's own kernels. How many more its subtree has is not written anywhere.
  const bool subtree = column.find("subtree") != std::string_view::npos;
  if (subtree && theirs.cell(row, "total_subtree_kernel_time_sum") !=
                     theirs.cell(row, "total_direct_kernel_time_sum")) {
    return events.all;
  }
  if (find_details(theirs)) return count_row_events(theirs, row).all;
  if (theirs.find_column("name")) return look_up(events.by_name, theirs.cell(row, "name"));
  return look_up(events.by_category, theirs.cell(row, "op category"));
}

double count_timeline_events(const Csv& theirs, size_t row, const EventCounts& events) {
  const auto type = theirs.cell(row, "type");
  if (type == "total_time") return 2;  // the first and the last
  if (type == "idle_time") return events.all + 2;
  if (type == "busy_time") return events.all;
  if (type.find("memcpy") != std::string_view::npos) return events.copies;
  if (type == "total_comm_time" && read_number(theirs, row, "time ms") == 0) return 0;
  return events.all - events.copies;
}

double find_sum_tolerance(double events) {
  return std::min(events * kNanosecond, kNanosecond + events * kLossPerEvent);
}

// rate = amount / time, so 1 ns of time moves it by rate × 1 ns / time; the largest rate and the
// shortest time bound what that can do to a mean or a median. Of a deviation both ends move.
double find_rate_tolerance(std::string_view column, const Csv& theirs, size_t row) {
  const auto mark = column.rfind('_');
  const std::string unit(column.substr(0, mark));
  const auto statistic = column.substr(mark + 1);
  const bool slowest = statistic == "min";
  const double rate = read_number(theirs, row, unit + (slowest ? "_min" : "_max"));
  const double time =
      read_number(theirs, row, slowest ? "Kernel Time (µs)_max" : "Kernel Time (µs)_min");
  if (time <= kNanosecond) return 0;
  return std::abs(rate) * kNanosecond / (time - kNanosecond) * (statistic == "std" ? 2 : 1);
}

}  // namespace

std::optional<double> parse_number(std::string_view cell) {
  double number = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
  const bool whole = error == std::errc() && end == cell.data() + cell.size();
  if (!whole || !std::isfinite(number)) return std::nullopt;
  return number;
}

EventCounts count_events(const Csv& ops_unique_args, const Csv& kernel_summary) {
  EventCounts events;
  for (size_t row = 0; row < ops_unique_args.rows.size(); ++row) {
    const auto here = count_row_events(ops_unique_args, row);
    events.all += here.all;
    events.copies += here.copies;
    events.by_name[std::string(ops_unique_args.cell(row, "name"))] += here.all;
    events.by_category[std::string(ops_unique_args.cell(row, "op category"))] += here.all;
  }
  // Collectives are no launchers' kernels, yet they are on the timeline.
  double kernels = 0;
  for (size_t row = 0; row < kernel_summary.rows.size(); ++row) {
    if (kernel_summary.cell(row, "Parent cpu_op").empty()) continue;
    kernels += read_number(kernel_summary, row, "Kernel duration (µs)_count");
  }
  events.all = std::max(events.all, kernels + events.copies);
  return events;
}

double find_tolerance(std::string_view column, const Csv& theirs, size_t row,
                      const EventCounts& events) {
  switch (find_column_kind(column)) {
    case ColumnKind::percent:
    case ColumnKind::cumulative:
      return kPercentPoint;
    case ColumnKind::duration:
      return kSameNanosecond;
    case ColumnKind::busy_stat:
      return kNanosecond;
    case ColumnKind::busy_sum: {
      const double limit = find_sum_tolerance(count_busy_events(column, theirs, row, events));
      return column.ends_with("_ms") ? limit / 1000 : limit;
    }
    case ColumnKind::timeline:
      return find_sum_tolerance(count_timeline_events(theirs, row, events)) / 1000;
    case ColumnKind::rate:
      return find_rate_tolerance(column, theirs, row);
    case ColumnKind::cost:
    case ColumnKind::text:
    case ColumnKind::details:
    case ColumnKind::cut_details:
    case ColumnKind::params:
      break;
  }
  return 0;
}

}  // namespace fathom::agreement
