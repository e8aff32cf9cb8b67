#include "csv.h"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace fathom::agreement {
namespace {

class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ >= text_.size(); }
  bool unterminated() const { return unterminated_; }

  // One record; empty for a blank line.
  std::vector<std::string> read_record() {
    std::vector<std::string> cells;
    if (take_line_end()) return cells;
    while (true) {
      cells.push_back(read_cell());
      if (at_end() || take_line_end()) return cells;
      ++at_;  // read_cell stops at a comma, a line end or the end
    }
  }

 private:
  bool at_line_end() const {
    if (at_end()) return false;
    return text_[at_] == '\n' || text_.substr(at_, 2) == "\r\n";
  }

  bool take_line_end() {
    if (!at_line_end()) return false;
    at_ += text_[at_] == '\r' ? 2 : 1;
    return true;
  }

  std::string read_cell() {
    if (at_end() || text_[at_] != '"') return read_bare();
    std::string cell;
    for (++at_; !at_end(); ++at_) {
      if (text_[at_] == '"') {
        if (text_.substr(at_, 2) != "\"\"") {
          ++at_;
          return cell + read_bare();
        }
        ++at_;
      }
      cell += text_[at_];
    }
    unterminated_ = true;
    return cell;
  }

  std::string read_bare() {
    const size_t begin = at_;
    while (!at_end() && text_[at_] != ',' && !at_line_end()) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string_view text_;
  size_t at_ = 0;
  bool unterminated_ = false;
};

void append_cell(std::string& text, std::string_view cell) {
  if (cell.find_first_of(",\"\r\n") == std::string_view::npos) {
    text += cell;
    return;
  }
  text += '"';
  for (const char c : cell) {
    if (c == '"') text += '"';
    text += c;
  }
  text += '"';
}

void append_record(std::string& text, const std::vector<std::string>& cells) {
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) text += ',';
    append_cell(text, cells[i]);
  }
  text += '\n';
}

}  // namespace

std::optional<size_t> Csv::find_column(std::string_view name) const {
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) return std::nullopt;
  return static_cast<size_t>(found - header.begin());
}

std::string_view Csv::cell(size_t row, std::string_view column) const {
  const auto index = find_column(column);
  return index ? std::string_view(rows[row][*index]) : std::string_view();
}

Csv parse_csv(std::string_view text) {
  Csv csv;
  CsvReader reader(text);
  while (!reader.at_end()) {
    auto record = reader.read_record();
    if (record.empty()) continue;
    if (csv.header.empty()) {
      csv.header = std::move(record);
      continue;
    }
    if (record.size() != csv.header.size()) {
      csv.error = "row " + std::to_string(csv.rows.size() + 1) + " has " +
                  std::to_string(record.size()) + " cells, the header has " +
                  std::to_string(csv.header.size());
      return csv;
    }
    csv.rows.push_back(std::move(record));
  }
  if (reader.unterminated()) csv.error = "a quoted cell does not end";
  return csv;
}

Csv read_csv(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    Csv csv;
    csv.error = "cannot open the file";
    return csv;
  }
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return parse_csv(text);
}

std::string format_csv(const Csv& csv) {
  std::string text;
  append_record(text, csv.header);
  for (const auto& row : csv.rows) append_record(text, row);
  return text;
}

}  // namespace fathom::agreement
