#include "report_files.h"

#include <fstream>

#include "python_literal.h"
#include "sheet_rules.h"

namespace fathom::agreement {
namespace {

void mark_cut_names(Value& details) {
  for (auto& entry : details.items) {
    for (size_t i = 0; i < entry.keys.size(); ++i) {
      auto& name = entry.items[i].text;
      if (entry.keys[i] == "name" && name.ends_with("...")) name.replace(name.size() - 3, 3, "…");
    }
  }
}

std::string convert_cell(ColumnKind kind, const std::string& cell) {
  const bool literal =
      kind == ColumnKind::details || kind == ColumnKind::cut_details || kind == ColumnKind::params;
  if (!literal || cell.empty()) return cell;
  auto value = parse_python_literal(cell);
  if (!value) return cell;
  if (kind == ColumnKind::cut_details) mark_cut_names(*value);
  return format_json(*value);
}

}  // namespace

Report read_report(const std::filesystem::path& directory) {
  Report report;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() != ".csv") continue;
    report[entry.path().stem().string()] = read_csv(entry.path());
  }
  return report;
}

void write_report(const Report& report, const std::filesystem::path& directory) {
  std::filesystem::create_directories(directory);
  for (const auto& [name, sheet] : report) {
    std::ofstream(directory / (name + ".csv"), std::ios::binary) << format_csv(sheet);
  }
}

Report convert_to_our_form(Report report) {
  for (auto& [name, sheet] : report) {
    for (size_t column = 0; column < sheet.header.size(); ++column) {
      const auto kind = find_column_kind(sheet.header[column]);
      for (auto& row : sheet.rows) row[column] = convert_cell(kind, row[column]);
    }
  }
  for (const auto& rule : list_core_sheets()) {
    const auto found = report.find(std::string(rule.name));
    if (found == report.end() || !found->second.header.empty()) continue;
    found->second.header.assign(rule.header_when_blank.begin(), rule.header_when_blank.end());
  }
  return report;
}

}  // namespace fathom::agreement
