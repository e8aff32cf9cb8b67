#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "base/text_parts.h"

namespace fathom {

inline std::string_view without_blanks_around(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\f\v";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

// The words of code, in order, numbers too: views of it.
inline std::vector<std::string_view> code_words(std::string_view text) {
  std::vector<std::string_view> out;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && is_word_character(text[end])) ++end;
    if (end > at) out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}
// Those that are names; what follows a dot is none.
inline std::vector<std::string_view> code_names(std::string_view text) {
  std::vector<std::string_view> out = code_words(text);
  std::erase_if(out, [text](std::string_view word) {
    return is_digit(word[0]) || (word.data() > text.data() && word.data()[-1] == '.');
  });
  return out;
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

// On one line: white space of any kind and length is a blank, and none at the beginning.
inline std::string on_one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!blank || (!out.empty() && out.back() != ' ')) out += blank ? ' ' : c;
  }
  return out;
}

// At most so many bytes, with "…" for the rest; what is written into a report has a largest size.
inline std::string shortened_text(std::string text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  text.resize(most);
  return text += " …";
}

inline std::string_view folder_of_path(std::string_view path) { return before_last(path, '/'); }

}  // namespace fathom
