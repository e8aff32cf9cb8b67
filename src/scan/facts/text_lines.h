#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

inline std::string_view without_blanks_around(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\f\v";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

inline bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The parts of a list at the commas outside its brackets, without the blanks around them. Where
// `angles` are none, < is less than.
inline std::vector<std::string_view> split_list(std::string_view text, bool angles = true) {
  std::vector<std::string_view> out;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size() && !text.empty(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    depth += c == '(' || c == '[' || c == '{' || (angles && c == '<');
    depth -= c == ')' || c == ']' || c == '}' || (angles && c == '>');
    if (c != ',' || (depth > 0 && i < text.size())) continue;
    out.push_back(without_blanks_around(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  return out;
}

// All lines, empty ones too, so that line n is lines[n - 1].
inline std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// At most so many bytes, with "…" for the rest; what is written into a report has a largest size.
inline std::string shortened_text(std::string text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  text.resize(most);
  return text += " …";
}

inline std::string_view file_name_of_path(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}
inline std::string_view folder_of_path(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

}  // namespace fathom
