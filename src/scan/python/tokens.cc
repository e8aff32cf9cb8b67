#include "scan/python/tokens.h"

namespace fathom::python {

uint32_t count_line_breaks(std::string_view text) {
  uint32_t count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool alone = text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n');
    count += text[i] == '\n' || alone;
  }
  return count;
}

uint32_t TokenList::last_line(uint32_t i) const {
  const Token& token = tokens[i];
  const bool spans = token.kind == TokenKind::kString || token.kind == TokenKind::kFStringText ||
                     token.kind == TokenKind::kBad;
  return spans ? token.line + count_line_breaks(at(i)) : token.line;
}

std::string TokenList::source(uint32_t first, uint32_t last, size_t at_most) const {
  std::string out;
  for (uint32_t i = first; i <= last && i < tokens.size(); ++i) {
    if (i > first && tokens[i].begin > tokens[i - 1].end && !out.empty()) out += ' ';
    if (out.size() >= at_most) return out + "…";
    const std::string_view token = at(i);
    const std::string_view fits = utf8_begin(token, at_most - out.size());
    out += fits;
    if (fits.size() < token.size()) return out + "…";
  }
  return out;
}

std::string_view utf8_begin(std::string_view text, size_t at_most) {
  if (text.size() <= at_most) return text;
  while (at_most > 0 && (text[at_most] & 0xC0) == 0x80) --at_most;
  return text.substr(0, at_most);
}

std::string_view utf8_end(std::string_view text, size_t at_most) {
  if (text.size() <= at_most) return text;
  size_t begin = text.size() - at_most;
  while (begin < text.size() && (text[begin] & 0xC0) == 0x80) ++begin;
  return text.substr(begin);
}

}  // namespace fathom::python
