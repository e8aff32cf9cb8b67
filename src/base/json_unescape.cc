#include "base/json_unescape.h"

#include <charconv>
#include <cstdint>
#include <optional>

namespace fathom {
namespace {

void append_utf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 0x3f));
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

std::optional<uint32_t> read_hex4(std::string_view text, size_t at) {
  if (at + 4 > text.size()) return {};
  uint32_t code = 0;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + 4, code, 16);
  if (error != std::errc() || end != text.data() + at + 4) return {};
  return code;
}

// After "\u": appends the character and returns how many characters of text it took.
size_t unescape_unicode(std::string& out, std::string_view text, size_t at) {
  constexpr uint32_t kReplacement = 0xfffd;
  const std::optional<uint32_t> unit = read_hex4(text, at);
  if (!unit) {
    append_utf8(out, kReplacement);
    return 0;
  }
  const bool high = *unit >= 0xd800 && *unit < 0xdc00;
  if (high && text.substr(at + 4, 2) == "\\u") {
    const std::optional<uint32_t> low = read_hex4(text, at + 6);
    if (low && *low >= 0xdc00 && *low < 0xe000) {
      append_utf8(out, 0x10000 + ((*unit - 0xd800) << 10) + (*low - 0xdc00));
      return 10;
    }
  }
  const bool lone_surrogate = *unit >= 0xd800 && *unit < 0xe000;
  append_utf8(out, lone_surrogate ? kReplacement : *unit);
  return 4;
}

}  // namespace

std::string json_unescaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const size_t escape = text.find('\\', i);
    if (escape >= text.size() - 1) {  // none, or nothing behind it
      out += text.substr(i);
      break;
    }
    out += text.substr(i, escape - i);
    i = escape + 2;
    switch (text[escape + 1]) {
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case 'r':
        out += '\r';
        break;
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'u':
        i += unescape_unicode(out, text, i);
        break;
      default:
        out += text[escape + 1];  // \" \\ \/ and what no JSON writer should have written
    }
  }
  return out;
}

}  // namespace fathom
