#include "replay/python_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/ascii.h"
#include "base/screen_text.h"

namespace fathom {
namespace {

constexpr size_t kLongestFileName = 100;
constexpr size_t kLongestList = 1000;

// The character that begins at the text's start, which loses it. Bytes that are no UTF-8 are
// U+FFFD.
char32_t take_character(std::string_view& text) {
  const auto byte = [&text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto first = byte(0);
  const size_t length = first < 0x80             ? 1
                        : (first & 0xe0) == 0xc0 ? 2
                        : (first & 0xf0) == 0xe0 ? 3
                        : (first & 0xf8) == 0xf0 ? 4
                                                 : 0;
  char32_t character = length == 1 ? first : first & (0x7f >> length);
  bool valid = length > 0 && length <= text.size();
  for (size_t i = 1; valid && i < length; ++i) {
    valid = (byte(i) & 0xc0) == 0x80;
    character = character << 6 | (byte(i) & 0x3f);
  }
  const bool surrogate = character >= 0xd800 && character < 0xe000;
  if (!valid || surrogate || character > 0x10ffff) {
    text.remove_prefix(1);
    return 0xfffd;
  }
  text.remove_prefix(length);
  return character;
}

std::string_view without_spaces(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::optional<std::string> python_number(std::string_view text) {
  const char *begin = text.data(), *end = begin + text.size();
  int64_t integer = 0;
  if (const auto [stop, error] = std::from_chars(begin, end, integer);
      error == std::errc() && stop == end) {
    return std::to_string(integer);
  }
  double real = 0;
  const auto [stop, error] = std::from_chars(begin, end, real);
  if (error != std::errc() || stop != end) return {};
  // The one number without a literal; replay.py knows the word.
  if (std::isnan(real)) return "\"nan\"";
  if (std::isinf(real)) return real < 0 ? "-1e999" : "1e999";
  std::string number = fmt::format("{}", real);
  if (number.find_first_of(".e") == std::string::npos) number += ".0";
  return number;
}

std::optional<std::string> python_scalar(std::string_view text) {
  if (text == "True" || text == "False") return std::string(text);
  if (text == "None") return "None";
  return python_number(text);
}

}  // namespace

std::string python_quoted(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const auto c = static_cast<uint32_t>(take_character(text));
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c >= 0x20 && c < 0x7f) {
      out += static_cast<char>(c);
    } else if (c < 0x100) {
      out += fmt::format("\\x{:02x}", c);
    } else if (c < 0x10000) {
      out += fmt::format("\\u{:04x}", c);
    } else {
      out += fmt::format("\\U{:08x}", c);
    }
  }
  return out += '"';
}

std::optional<std::string> python_value(std::string_view text) {
  text = without_spaces(text);
  if (!text.starts_with('[')) return python_scalar(text);
  if (!text.ends_with(']') || text.size() < 2) return {};
  std::string_view rest = without_spaces(text.substr(1, text.size() - 2));
  std::string list = "[";
  for (size_t items = 0; !rest.empty(); ++items) {
    const size_t comma = rest.find(',');
    const std::optional<std::string> item = python_scalar(without_spaces(rest.substr(0, comma)));
    if (!item || items == kLongestList) return {};
    list += (items > 0 ? ", " : "") + *item;
    if (comma == std::string_view::npos) return list + "]";
    rest = without_spaces(rest.substr(comma + 1));
    if (rest.empty()) return {};  // "[1,]"
  }
  return "[]";
}

bool is_operator_name(std::string_view text) {
  const auto take_identifier = [&text](bool may_begin_with_digit) {
    size_t n = 0;
    while (n < text.size() && is_word_character(text[n]) &&
           (!is_digit(text[n]) || n > 0 || may_begin_with_digit)) {
      ++n;
    }
    text.remove_prefix(n);
    return n > 0;
  };
  if (!take_identifier(false) || !text.starts_with("::")) return false;
  text.remove_prefix(2);
  if (!take_identifier(false)) return false;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (!take_identifier(true)) return false;
  }
  return text.empty();
}

std::string file_name_of(std::string_view op_name) {
  std::string name;
  for (size_t i = 0; i < op_name.size() && name.size() < kLongestFileName; ++i) {
    const char c = op_name[i];
    if (c == ':' && i > 0 && op_name[i - 1] == ':') continue;
    name += is_word_character(c) || c == '-' || (c == '.' && i > 0) ? c : '_';
  }
  return name.empty() ? "_" : name;
}

std::string markdown_code(std::string_view text) {
  std::string code = screen_safe(text);
  std::ranges::replace(code, '`', '\'');
  return "`" + code + "`";
}

}  // namespace fathom
