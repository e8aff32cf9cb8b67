#include "report/page/page_tables.h"

#include <algorithm>
#include <cmath>

#include "base/utf8.h"

namespace fathom {
namespace {

constexpr size_t kTableRows = 2000;

std::string_view unit_text(Unit unit) {
  switch (unit) {
    case Unit::kMicros:
      return "µs";
    case Unit::kMillis:
      return "ms";
    case Unit::kPercent:
      return "%";
    case Unit::kMegabytes:
      return "MB";
    case Unit::kGigabytesPerSecond:
      return "GB/s";
    case Unit::kNone:
    case Unit::kCount:
      break;
  }
  return {};
}

// Texts of kilobytes that repeat other columns; the CSV file has them.
bool is_left_out(const Column& column) {
  return column.name() == "kernel_details_summary" || column.name() == "trunc_kernel_details";
}

}  // namespace

std::string page_text(std::string_view text, size_t most) {
  // Most texts have nothing to escape.
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~'; };
  if (text.size() <= most && std::ranges::all_of(text, is_plain)) return std::string(text);
  return with_unseen_escaped(cut_to_bytes(text, most));
}

void write_page_table(JsonWriter& json, const Table& table) {
  const size_t rows = std::min(table.rows(), kTableRows);
  json.begin_object().key("name").value(page_text(table.name()));
  json.key("rows").value(static_cast<int64_t>(rows));
  json.key("left_out").value(static_cast<int64_t>(table.rows() - rows));
  json.key("columns").begin_array();
  for (const Column& column : table.columns()) {
    if (is_left_out(column)) continue;
    json.begin_object().key("name").value(page_text(column.name()));
    json.key("unit").value(unit_text(column.unit()));
    json.key("text").value(column.is_text()).end_object();
  }
  json.end_array().key("values").begin_array();
  for (const Column& column : table.columns()) {
    if (is_left_out(column)) continue;
    json.begin_array();
    for (size_t row = 0; row < rows; ++row) {
      if (!column.known(row)) {
        json.null();
      } else if (column.is_text()) {
        json.value(page_text(column.text(row)));
      } else if (std::isfinite(column.number(row))) {
        json.raw(column.cell(row));  // as the CSV file has it
      } else {
        json.null();
      }
    }
    json.end_array();
  }
  json.end_array().end_object();
}

}  // namespace fathom
