#include "report/screen_text.h"

#include "base/utf8.h"

namespace fathom {
namespace {

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

}  // namespace

std::string screen_safe(std::string_view anything) {
  const std::string text = with_valid_utf8(anything);
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool second_set =
        c == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (c < 0x20 || c == 0x7f || second_set) {
      out += '?';
      if (second_set) ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

size_t screen_width(std::string_view text) {
  size_t width = 0;
  for (const char c : text) width += begins_character(c);
  return width;
}

std::string fit_left(std::string_view text, size_t width) {
  const size_t columns = screen_width(text);
  if (columns <= width) return std::string(text) + std::string(width - columns, ' ');
  size_t kept = 0, i = 0;
  for (; i < text.size(); ++i) {
    if (begins_character(text[i]) && ++kept == width) break;
  }
  return std::string(text.substr(0, i)) + "…";
}

}  // namespace fathom
