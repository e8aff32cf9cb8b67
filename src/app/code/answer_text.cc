#include "app/code/answer_text.h"

#include <algorithm>
#include <cmath>

#include "base/count_text.h"
#include "base/json_writer.h"
#include "base/utf8.h"

namespace fathom {
namespace {

constexpr size_t kWidestCell = 72;

std::string shown(const Column& column, size_t row) {
  if (!column.known(row)) return "";
  if (column.is_text()) return shortened(screen_safe(column.text(row)), kWidestCell);
  std::string exact = column.cell(row);
  if (exact.find_first_of(".e") == std::string::npos) return exact;
  return fmt::format("{:.6g}", column.number(row));
}

void put_cell(JsonWriter& json, const Column& column, size_t row, bool is_truth) {
  if (!column.known(row))
    json.null();
  else if (is_truth)
    json.raw(column.text(row));
  else if (column.is_text())
    json.value(with_valid_utf8(column.text(row)));
  else if (std::isfinite(column.number(row)))
    json.raw(column.cell(row));
  else
    json.null();
}

void pad(std::string& line, std::string_view text, size_t width, bool to_the_right) {
  const std::string spaces(width - std::min(width, screen_width(text)), ' ');
  line += to_the_right ? spaces + std::string(text) : std::string(text) + spaces;
}

}  // namespace

std::string answer_text(const Table& answer, const TerminalStyle& style, size_t limit,
                        std::string_view how_to_see_all) {
  const size_t rows = limit == 0 ? answer.rows() : std::min(limit, answer.rows());
  std::vector<std::vector<std::string>> cells;
  std::vector<size_t> widths;
  std::vector<std::string> names;
  for (const Column& column : answer.columns()) {
    names.push_back(fit_left(screen_safe(column.name()),
                             std::min(kWidestCell, screen_width(screen_safe(column.name())))));
    std::vector<std::string>& of_column = cells.emplace_back();
    size_t width = screen_width(names.back());
    for (size_t row = 0; row < rows; ++row) {
      of_column.push_back(shown(column, row));
      width = std::max(width, screen_width(of_column.back()));
    }
    widths.push_back(width);
  }
  Screen screen(style);
  const auto line_of = [&](auto cell) {
    std::string line;
    for (size_t c = 0; c < cells.size(); ++c) {
      if (c > 0) line += "  ";
      pad(line, cell(c), widths[c], !answer.columns()[c].is_text());
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    return line;
  };
  screen.line(screen.bold(line_of([&](size_t c) -> std::string_view { return names[c]; })));
  for (size_t row = 0; row < rows; ++row)
    screen.line(line_of([&](size_t c) -> std::string_view { return cells[c][row]; }));
  const auto all = static_cast<int64_t>(answer.rows());
  screen.line(
      screen.dim(rows < answer.rows()
                     ? fmt::format("{} of {} rows; {}", with_thousands(static_cast<int64_t>(rows)),
                                   with_thousands(all), how_to_see_all)
                     : counted(all, "row")));
  return screen.take();
}

std::string answer_json(const Table& answer, std::span<const size_t> truths) {
  std::string out = "[";
  // Columns of one name: an object has each key once.
  std::vector<std::string> keys;
  for (const Column& column : answer.columns()) {
    const std::string name = with_valid_utf8(column.name());
    std::string key = name;
    for (int n = 2; std::ranges::find(keys, key) != keys.end(); ++n)
      key = fmt::format("{}_{}", name, n);
    keys.push_back(std::move(key));
  }
  for (size_t row = 0; row < answer.rows(); ++row) {
    JsonWriter json(false);
    json.begin_object();
    for (size_t c = 0; c < answer.columns().size(); ++c) {
      const Column& column = answer.columns()[c];
      json.key(keys[c]);
      put_cell(json, column, row, std::ranges::find(truths, c) != truths.end());
    }
    json.end_object();
    out += row == 0 ? "\n" : ",\n";
    std::string line = json.take();
    while (!line.empty() && line.back() == '\n') line.pop_back();
    out += line;
  }
  return out + (answer.rows() == 0 ? "]\n" : "\n]\n");
}

std::string schema_text(const SchemaTable* only) {
  std::string out;
  for (const SchemaTable& table : schema()) {
    if (only != nullptr && table.name != only->name) continue;
    if (!out.empty()) out += '\n';
    out += fmt::format("{}: {}\n", table.name, table.text);
    for (const SchemaColumn& column : table.columns)
      out += fmt::format("  {:<20}  {:<8} {:<6} {}\n", column.name, column.type, column.unit,
                         column.text);
  }
  return out;
}

std::string schema_json(const SchemaTable* only) {
  JsonWriter json(true);
  json.begin_object().key("schema_version").value(kTablesVersion).key("tables").begin_array();
  for (const SchemaTable& table : schema()) {
    if (only != nullptr && table.name != only->name) continue;
    json.begin_object().key("table").value(table.name).key("description").value(table.text);
    json.key("columns").begin_array();
    for (const SchemaColumn& column : table.columns) {
      json.begin_object().key("column").value(column.name).key("type").value(column.type);
      json.key("unit");
      column.unit.empty() ? json.null() : json.value(column.unit);
      json.key("description").value(column.text).end_object();
    }
    json.end_array().end_object();
  }
  json.end_array().end_object();
  return json.take();
}

}  // namespace fathom
