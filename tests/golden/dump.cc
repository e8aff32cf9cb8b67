#include "golden/dump.h"

#include <fmt/format.h>

#include "report/csv.h"

namespace fathom::test {
namespace {

constexpr size_t kDigits = 12;

bool is_long_detail(std::string_view column) {
  return column.find("kernel_details") != std::string_view::npos;
}

std::string golden_cell(const Column& column, size_t row) {
  const std::string cell = column.cell(row);
  if (is_long_detail(column.name())) return Digest().add(cell).text();
  if (column.is_text() || cell.size() <= kDigits + 1) return cell;
  return fmt::format("{:.{}g}", column.number(row), kDigits);
}

}  // namespace

int64_t position(const EventStore& store, EventId event) {
  return event.valid() ? store.uid(event) : -1;
}

int64_t entries(const EventStore& store) { return store.entries(); }

Digest& Digest::add(std::string_view text) {
  for (const char c : text) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  hash_ = (hash_ ^ 0xff) * 0x100000001b3;  // no text ends in it: "a", "bc" is not "ab", "c"
  return *this;
}

Digest& Digest::add(int64_t value) { return add(std::to_string(value)); }

std::string Digest::text() const { return fmt::format("{:016x}", hash_); }

std::string cut_name(std::string_view name, size_t width) {
  if (name.size() <= width) return std::string(name);
  while (width > 0 && (static_cast<unsigned char>(name[width]) & 0xc0) == 0x80) --width;
  return std::string(name.substr(0, width)) + "…";
}

std::string dump_sheet(const Table& sheet) {
  Table shown(sheet.name());
  for (const Column& column : sheet.columns()) {
    Column& text = shown.text_column(column.name());
    for (size_t row = 0; row < sheet.rows(); ++row) {
      column.known(row) ? text.add(golden_cell(column, row)) : text.add_unknown();
    }
  }
  return to_csv(shown);
}

}  // namespace fathom::test
