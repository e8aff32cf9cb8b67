#include "report/csv.h"

#include <algorithm>
#include <string_view>

#include "base/utf8.h"

namespace fathom {
namespace {

// A spreadsheet takes text that begins so for a formula, and runs it.
bool looks_like_formula(std::string_view field) {
  return !field.empty() &&
         std::string_view("=+-@\t\r").find(field.front()) != std::string_view::npos;
}

bool is_plain(std::string_view field) {
  return std::ranges::all_of(
      field, [](char c) { return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t'; });
}

void append_field(std::string& out, std::string_view text) {
  // Most fields are plain and are not copied. A quoted line break is a line break of the text.
  const bool plain = is_plain(text);
  const std::string escaped = plain ? std::string() : with_unseen_escaped(text, "\n\t");
  const std::string_view field = plain ? text : escaped;
  const bool formula = looks_like_formula(field);
  if (!formula && field.find_first_of(",\"\n\r") == std::string_view::npos) {
    out += field;
    return;
  }
  out += formula ? "\"'" : "\"";
  for (const char c : field) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

}  // namespace

std::string to_csv(const Table& table) {
  std::string out;
  for (const Column& column : table.columns()) {
    if (&column != &table.columns().front()) out += ',';
    append_field(out, column.name());
  }
  out += '\n';
  for (size_t row = 0; row < table.rows(); ++row) {
    for (const Column& column : table.columns()) {
      if (&column != &table.columns().front()) out += ',';
      if (column.is_text() && column.known(row)) {
        append_field(out, column.text(row));
      } else {
        out += column.cell(row);
      }
    }
    out += '\n';
  }
  return out;
}

}  // namespace fathom
