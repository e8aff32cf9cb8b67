#include "report/svg.h"

#include <fmt/format.h>

#include "base/screen_text.h"

namespace fathom {

std::string svg_begin(int width, int height) {
  constexpr std::string_view kStyle =
      "<style>text{fill:#1f2328}.back{fill:#fff}.grid{stroke:#d8dee4}.line{stroke:#1f2328}"
      "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.back{fill:#0d1117}"
      ".grid{stroke:#30363d}.line{stroke:#e6edf3}}</style>\n";
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n{}"
      "<rect class=\"back\" width=\"100%\" height=\"100%\"/>\n",
      width, height, width, height, kStyle);
}

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
