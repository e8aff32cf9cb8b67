#include "scan/manifests/yaml_keys.h"

#include <algorithm>
#include <cctype>

#include "scan/facts/text_lines.h"

namespace fathom {
namespace {

constexpr size_t kMostKeys = 2000, kLongestName = 200, kDeepest = 12;

bool is_plain_key(std::string_view key) {
  return !key.empty() && std::ranges::all_of(key, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  });
}

// Where a comment begins: a # behind a space, outside of quotes.
size_t comment_at(std::string_view line) {
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    if (quote != 0) {
      if (line[i] == quote) quote = 0;
    } else if (line[i] == '"' || line[i] == '\'') {
      quote = line[i];
    } else if (line[i] == '#' && (i == 0 || line[i - 1] == ' ')) {
      return i;
    }
  }
  return line.size();
}

}  // namespace

std::vector<YamlKey> yaml_keys(std::string_view text) {
  struct Level {
    size_t indent;
    std::string name;
  };
  std::vector<Level> levels;
  std::vector<YamlKey> out;
  uint32_t number = 0;
  size_t block = SIZE_MAX;  // the indent of a key whose text goes on below it
  for (const std::string_view line : lines_of(text)) {
    ++number;
    const size_t indent = std::min(line.find_first_not_of(' '), line.size());
    if (indent == line.size() || out.size() == kMostKeys) continue;
    if (block != SIZE_MAX && indent > block) continue;
    block = SIZE_MAX;
    const size_t comment = comment_at(line);
    std::string_view content = without_blanks_around(line.substr(0, comment));
    if (content.empty() || content.starts_with("- ") || content == "-" || content == "---")
      continue;
    const size_t colon = content.find(':');
    if (colon == std::string_view::npos) continue;
    const bool ends = colon + 1 == content.size();
    if (!ends && content[colon + 1] != ' ') continue;
    const std::string_view key = content.substr(0, colon);
    if (!is_plain_key(key)) continue;
    while (!levels.empty() && levels.back().indent >= indent) levels.pop_back();
    std::string name = levels.empty() ? "" : levels.back().name + ".";
    name += key;
    if (name.size() > kLongestName || levels.size() > kDeepest) continue;
    const std::string_view value =
        ends ? std::string_view() : without_blanks_around(content.substr(colon + 1));
    if (value.empty()) {
      levels.push_back({indent, std::move(name)});
      continue;
    }
    if (value[0] == '|' || value[0] == '>') {
      block = indent;
      continue;
    }
    std::string_view said = comment < line.size() ? line.substr(comment + 1) : std::string_view();
    out.push_back(
        {std::move(name), std::string(value), std::string(without_blanks_around(said)), number});
  }
  return out;
}

}  // namespace fathom
