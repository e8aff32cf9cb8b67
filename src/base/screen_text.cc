#include "base/screen_text.h"

#include "base/utf8.h"

namespace fathom {
namespace {

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

}  // namespace

std::string screen_safe(std::string_view text) { return with_unseen_escaped(text); }

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

std::string shortened(std::string_view text, size_t width) {
  return screen_width(text) > width ? fit_left(text, width) : std::string(text);
}

}  // namespace fathom
