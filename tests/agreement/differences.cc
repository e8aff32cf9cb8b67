#include "differences.h"

#include <fstream>
#include <iterator>

#include "base/glob.h"

namespace fathom::agreement {
namespace {

std::vector<std::string> split_fields(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool matches_column(std::string_view pattern, std::string_view column) {
  if (pattern == "*") return !column.starts_with('(');
  return glob_matches(pattern, column);
}

}  // namespace

Differences Differences::parse(std::string_view text) {
  Differences differences;
  size_t number = 0;
  for (auto& line : split_fields(text, '\n')) {
    ++number;
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty() || line.starts_with('#')) continue;
    auto fields = split_fields(line, '\t');
    bool complete = fields.size() == 4;
    for (const auto& field : fields) complete = complete && !field.empty();
    if (!complete) {
      differences.errors_.push_back("line " + std::to_string(number) +
                                    ": want sheet, column, key pattern and reason, tab-separated");
      continue;
    }
    differences.rows_.push_back({number, std::move(fields[0]), std::move(fields[1]),
                                 std::move(fields[2]), std::move(fields[3])});
  }
  return differences;
}

Differences Differences::read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    Differences differences;
    differences.errors_.push_back("cannot open " + path.filename().string());
    return differences;
  }
  return parse(std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()));
}

bool Differences::cover(std::string_view sheet, std::string_view column, std::string_view key) {
  bool covered = false;
  for (auto& row : rows_) {
    if (row.sheet != "*" && row.sheet != sheet) continue;
    if (!matches_column(row.column, column) || !glob_matches(row.key, key)) continue;
    row.used = covered = true;
  }
  return covered;
}

std::vector<std::string> Differences::list_stale() const {
  std::vector<std::string> stale;
  for (const auto& row : rows_) {
    if (row.used) continue;
    stale.push_back("line " + std::to_string(row.line) + ": " + row.sheet + ", " + row.column +
                    ", " + row.key + " (" + row.reason + ")");
  }
  return stale;
}

}  // namespace fathom::agreement
