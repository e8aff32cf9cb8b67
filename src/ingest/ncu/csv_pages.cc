#include "ingest/ncu/csv_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "base/csv_text.h"
#include "base/hash.h"
#include "ingest/ncu/launch_facts.h"
#include "ingest/ncu/metric_units.h"

namespace fathom::ncu {
namespace {

// A rule's text may have line breaks; a record is not longer.
constexpr size_t kLongestRecord = 1 << 20;

std::string_view line_at(std::string_view text, size_t at) {
  return text.substr(at, std::min(text.find('\n', at), text.size()) - at);
}

// "12", or 12 without quotes, and a comma: the number of a launch or of a process.
bool begins_like_row(std::string_view line) {
  const bool quoted = line.starts_with('"');
  size_t at = quoted ? 1 : 0;
  const size_t first = at;
  while (at < line.size() && line[at] >= '0' && line[at] <= '9') ++at;
  if (at == first || at - first > 20) return false;
  if (quoted) {
    if (at >= line.size() || line[at] != '"') return false;
    ++at;
  }
  return at < line.size() && line[at] == ',';
}

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

// Values that ncu prints where it has none.
bool is_absent(std::string_view text) {
  return text.empty() || text == "n/a" || text == "N/A" || text == "nan" || text == "-nan" ||
         text == "(!) n/a" || text == "no data" || text == "<error>";
}

bool is_infinite(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return text == "inf" || text == "Inf" || text == "infinity";
}

// ncu prints times, bytes and clocks in the unit that fits them: without it a number says nothing.
bool lacks_unit(std::string_view name, const BaseUnit& unit) {
  if (!unit.name.empty()) return false;
  const std::string_view known = unit_by_name(name);
  return name == "Duration" || name.ends_with(" Frequency") || (!known.empty() && known != "%");
}

// One table: its header, then records as pieces of the text.
class Page {
 public:
  Page(std::string_view header, CounterSetBuilder& builder) : builder_(builder) {
    split_csv(header, record_);
    names_ = record_.fields;
    for (size_t i = 0; i < names_.size(); ++i) assign_column(names_[i], i);
    is_long_ = columns_.metric != kNone && columns_.value != kNone;
    leave_out_repeated();
  }

  void add(std::string_view record) { records_.push_back(record); }
  bool is_empty() const { return records_.empty(); }
  bool is_long() const { return is_long_; }

  void finish(bool text_was_cut) {
    if (records_.empty()) return;
    for (const std::string_view record : records_) vote(record);
    const DecimalMark mark = votes_.mark();
    for (size_t i = 0; i < records_.size(); ++i) {
      const bool may_be_cut = text_was_cut && i + 1 == records_.size();
      is_long_ ? read_long(records_[i], mark) : read_wide(records_[i], i, mark, may_be_cut);
    }
    for (CounterRowId row : rows_) {
      finish_launch(builder_.row(row));
      if (const auto notes = notes_.find(row); notes != notes_.end())
        builder_.row(row).notes = builder_.intern(notes->second);
    }
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;
  // Of two columns with one name nothing tells which is right.
  void leave_out_repeated() {
    std::unordered_set<std::string_view, TableHash> seen;
    for (size_t i = 0; i < names_.size(); ++i) {
      if (seen.insert(names_[i]).second || is_fact_[i] || is_long_) continue;
      is_fact_[i] = true;
      builder_.diagnostics().add(Flaw::kRepeatedColumn, names_[i]);
    }
  }

  struct Columns {
    size_t id = kNone, process = kNone, kernel = kNone, context = kNone, stream = kNone,
           block = kNone, grid = kNone, device = kNone, capability = kNone;
    size_t section = kNone, metric = kNone, unit = kNone, value = kNone;
    size_t rule = kNone, rule_type = kNone, rule_text = kNone, speedup = kNone;
  };

  void assign_column(std::string_view name, size_t at) {
    struct Known {
      std::string_view name;
      size_t Columns::* column;
    };
    static constexpr Known kKnown[] = {
        {"ID", &Columns::id},
        {"Process ID", &Columns::process},
        {"Kernel Name", &Columns::kernel},
        {"Context", &Columns::context},
        {"Stream", &Columns::stream},
        {"Block Size", &Columns::block},
        {"Grid Size", &Columns::grid},
        {"Device", &Columns::device},
        {"CC", &Columns::capability},
        {"Section Name", &Columns::section},
        {"Metric Name", &Columns::metric},
        {"Metric Unit", &Columns::unit},
        {"Metric Value", &Columns::value},
        {"Average", &Columns::value},
        {"Rule Name", &Columns::rule},
        {"Rule Type", &Columns::rule_type},
        {"Rule Description", &Columns::rule_text},
        {"Estimated Speedup", &Columns::speedup},
    };
    for (const Known& known : kKnown) {
      if (known.name != name) continue;
      if (columns_.*known.column == kNone) columns_.*known.column = at;
      is_fact_.resize(names_.size(), false);
      is_fact_[at] = true;
      return;
    }
    is_fact_.resize(names_.size(), false);
    is_fact_[at] = name == "Process Name" || name == "Host Name" || name == "Kernel Time" ||
                   name == "Invocations" || name == "Minimum" || name == "Maximum" ||
                   name == "Estimated Speedup Type";
  }

  std::string_view cell(size_t column) const {
    return column < record_.fields.size() ? std::string_view(record_.fields[column])
                                          : std::string_view();
  }

  void vote(std::string_view record) {
    split_csv(record, record_);
    if (is_long_) return votes_.add(cell(columns_.value));
    for (size_t i = 0; i < record_.fields.size() && i < names_.size(); ++i) {
      if (!is_fact_[i]) votes_.add(record_.fields[i]);
    }
  }

  CounterRow launch_of_record() {
    CounterRow row;
    row.kernel = builder_.intern(cell(columns_.kernel));
    row.launch = whole_number(cell(columns_.id));
    row.process = whole_number(cell(columns_.process));
    row.context = whole_number(cell(columns_.context));
    row.stream = whole_number(cell(columns_.stream));
    row.device = whole_number(cell(columns_.device));
    row.grid = parse_dims(cell(columns_.grid));
    row.block = parse_dims(cell(columns_.block));
    const std::string_view capability = cell(columns_.capability);
    CounterOrigin& origin = builder_.origin();
    if (!capability.empty() && origin.capability.empty()) origin.capability = capability;
    return row;
  }

  bool is_record_whole(std::string_view record, size_t least) {
    split_csv(record, record_);
    if (!record_.unclosed && record_.fields.size() >= least &&
        record_.fields.size() <= names_.size())
      return true;
    // A bare "1, 2" is the program's own output; a quoted number begins a row of ncu's.
    const bool is_row = record.starts_with('"');
    builder_.diagnostics().add(is_row ? Flaw::kCounterRowDamaged : Flaw::kCounterText,
                               line_at(record, 0).substr(0, 200));
    return false;
  }

  void add_value(CounterRowId row, MetricId metric, std::string_view name, const BaseUnit& unit,
                 std::string_view text, DecimalMark mark) {
    if (is_absent(text)) return;
    if (name == "device__attribute_display_name") {
      std::string& gpu = builder_.origin().gpu;
      if (gpu.empty()) gpu = text;
      return;
    }
    // Properties are no counts: -1 stands for none.
    if (name.starts_with("device__attribute") && text.starts_with('-')) return;
    double value = 0;
    std::string_view rest;
    if (is_infinite(text)) return builder_.add_value(row, metric, INFINITY);
    if (lacks_unit(name, unit))
      return builder_.diagnostics().add(Flaw::kCounterValueUnreadable, name.substr(0, 200));
    // What follows in brackets are the instances that it sums up.
    const bool is_number =
        parse_number(text, mark, value, rest) && (rest.empty() || rest.starts_with(" ("));
    if (!is_number) {
      if (!unit.name.empty())
        builder_.diagnostics().add(Flaw::kCounterValueUnreadable,
                                   fmt::format("{} {}", name, text.substr(0, 80)));
      return;
    }
    value *= unit.factor;
    builder_.add_value(row, metric, value);
    add_launch_fact(name, value, builder_.row(row));
  }

  void read_wide(std::string_view record, size_t position, DecimalMark mark, bool may_be_cut) {
    split_csv(record, record_);
    if (position == 0 && cell(0).empty()) {
      units_ = record_.fields;
      return;
    }
    size_t usable = record_.fields.size();
    if (may_be_cut && usable < names_.size() && usable > columns_.kernel + 1) {
      // The last field may have lost its end.
      --usable;
      builder_.diagnostics().add(Flaw::kCounterRowDamaged, line_at(record, 0).substr(0, 200));
    } else if (!is_record_whole(record, names_.size())) {
      return;
    }
    const CounterRowId row = builder_.add_row(launch_of_record());
    rows_.push_back(row);
    make_wide_metrics();
    for (size_t i = 0; i < usable; ++i) {
      if (!is_fact_[i])
        add_value(row, wide_metrics_[i], names_[i], wide_units_[i], record_.fields[i], mark);
    }
  }

  void make_wide_metrics() {
    if (!wide_metrics_.empty()) return;
    for (size_t i = 0; i < names_.size(); ++i) {
      wide_units_.push_back(base_unit(i < units_.size() ? units_[i] : ""));
      wide_metrics_.push_back(is_fact_[i] ? MetricId()
                                          : builder_.metric(names_[i], wide_units_[i].name));
    }
  }

  void read_long(std::string_view record, DecimalMark mark) {
    if (!is_record_whole(record, std::max(columns_.value, columns_.kernel) + 1)) return;
    const CounterRowId row = row_of_launch();
    const std::string_view name = cell(columns_.metric);
    if (!name.empty()) {
      const BaseUnit unit = base_unit(cell(columns_.unit));
      // Metrics asked for by name stand in a section that says only that.
      std::string_view section = cell(columns_.section);
      if (section == "Command line profiler metrics") section = {};
      add_value(row, builder_.metric(name, unit.name, section), name, unit, cell(columns_.value),
                mark);
    }
    if (!cell(columns_.rule_text).empty()) add_note(row);
  }

  void add_note(CounterRowId row) {
    constexpr size_t kLongestNotes = 1 << 16;
    std::string& notes = notes_[row];
    if (notes.size() > kLongestNotes) return;
    if (!notes.empty()) notes += '\n';
    std::string text(cell(columns_.rule_text));
    std::ranges::replace(text, '\n', ' ');
    notes += fmt::format("{} {}: {}", cell(columns_.rule_type), cell(columns_.rule), text);
    if (!cell(columns_.speedup).empty())
      notes += fmt::format(" (estimated speedup {} %)", cell(columns_.speedup));
  }

  CounterRowId row_of_launch() {
    std::string key;
    for (const size_t column : {columns_.id, columns_.process, columns_.kernel, columns_.context,
                                columns_.stream, columns_.grid, columns_.block, columns_.device}) {
      (key += cell(column)) += '\x1f';
    }
    const auto [found, is_new] = row_ids_.try_emplace(std::move(key));
    if (is_new) {
      found->second = builder_.add_row(launch_of_record());
      rows_.push_back(found->second);
    }
    return found->second;
  }

  CounterSetBuilder& builder_;
  std::vector<std::string> names_, units_;
  std::vector<bool> is_fact_;  // by column: says something of the launch, is no metric
  Columns columns_;
  bool is_long_ = false;
  std::vector<std::string_view> records_;
  DecimalVotes votes_;
  CsvRecord record_;
  std::vector<BaseUnit> wide_units_;
  std::vector<MetricId> wide_metrics_;
  std::unordered_map<std::string, CounterRowId, TableHash> row_ids_;
  std::unordered_map<CounterRowId, std::string> notes_;
  std::vector<CounterRowId> rows_;
};

}  // namespace

size_t find_page_header(std::string_view line) {
  if (line.find("Kernel Name") == std::string_view::npos) return std::string_view::npos;
  for (const std::string_view begin :
       {"\"ID\",\"Process ID\",", "\"Process ID\",\"Process Name\","}) {
    if (const size_t at = line.find(begin); at != std::string_view::npos) return at;
  }
  if (line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
  const bool is_plain =
      line.starts_with("ID,Process ID,") || line.starts_with("Process ID,Process Name,");
  return is_plain ? 0 : std::string_view::npos;
}

void read_pages(std::string_view text, CounterSetBuilder& builder) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::optional<Page> page;
  bool has_raw = false, has_long = false;
  for (size_t at = 0; at < text.size();) {
    const std::string_view line = line_at(text, at);
    const size_t next = at + line.size() + 1;
    if (const size_t header = find_page_header(line); header != std::string_view::npos) {
      if (page) page->finish(false);
      page.emplace(line.substr(header), builder);
      (page->is_long() ? has_long : has_raw) = true;
      at = next;
      continue;
    }
    const bool is_units =
        page && page->is_empty() && (line.starts_with("\"\",") || line.starts_with(",,"));
    if (!page || (!is_units && !begins_like_row(line))) {
      if (!line.empty() && line != "\r")
        builder.diagnostics().add(Flaw::kCounterText, line.substr(0, 200));
      at = next;
      continue;
    }
    // A quoted text may go on in the next lines, as long as none of them begins something else.
    size_t end = at + line.size();
    if (std::ranges::count(line, '"') % 2 != 0) {
      size_t reach = next;
      while (reach < text.size() && reach - at < kLongestRecord) {
        const std::string_view more = line_at(text, reach);
        if (begins_like_row(more) || more.starts_with("==") ||
            find_page_header(more) != std::string_view::npos)
          break;
        reach += more.size() + 1;
        if (std::ranges::count(more, '"') % 2 != 0) {
          end = reach - 1;
          break;
        }
      }
    }
    page->add(text.substr(at, end - at));
    at = end + 1;
  }
  if (page) page->finish(!text.ends_with('\n'));
  builder.origin().tool = "Nsight Compute";
  builder.origin().form = has_raw && has_long ? "raw and details pages, CSV"
                          : has_long          ? "details page, CSV"
                                              : "raw page, CSV";
}

}  // namespace fathom::ncu
