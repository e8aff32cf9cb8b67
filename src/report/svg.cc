#include "report/svg.h"

#include "base/screen_text.h"

namespace fathom {

std::string svg_safe(std::string_view text, size_t most) {
  bool is_cut = text.size() > most;
  if (is_cut) {
    text = text.substr(0, most);
    // Not inside a character.
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0) == 0x80)
      text.remove_suffix(1);
    if (!text.empty() && (static_cast<unsigned char>(text.back()) & 0x80) != 0)
      text.remove_suffix(1);
  }
  std::string out;
  for (const char c : screen_safe(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return is_cut ? out + "…" : out;
}

}  // namespace fathom
