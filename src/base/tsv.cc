#include "base/tsv.h"

#include <algorithm>

namespace fathom {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    pieces.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return pieces;
}

std::vector<std::vector<std::string_view>> read_tsv(std::string_view text, size_t columns) {
  std::vector<std::vector<std::string_view>> rows;
  bool header = true;
  for (std::string_view line : split(text, '\n')) {
    if (line.empty() || line.starts_with('#')) continue;
    if (!header) {
      rows.push_back(split(line, '\t'));
      rows.back().resize(columns);
    }
    header = false;
  }
  return rows;
}

}  // namespace fathom
