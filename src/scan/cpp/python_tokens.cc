#include "scan/cpp/python_tokens.h"

#include <algorithm>

namespace fathom::cpp {
namespace {

void blank(std::string& text, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    if (text[i] != '\n') text[i] = ' ';
  }
}

// After the string that opens at `at` with one or three quotes.
size_t string_end(const std::string& text, size_t at, bool triple) {
  const std::string quote(triple ? 3 : 1, text[at]);
  for (size_t i = at + quote.size(); i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text.compare(i, quote.size(), quote) == 0) {
      return i + quote.size();
    } else if (!triple && text[i] == '\n') {
      return i;
    }
  }
  return text.size();
}

}  // namespace

std::string mask_python(std::string_view text) {
  std::string out(text);
  for (size_t at = 0; at < out.size();) {
    const char c = out[at];
    if (c == '#') {
      const size_t end = std::min(out.find('\n', at), out.size());
      blank(out, at, end);
      at = end;
    } else if (c == '"' || c == '\'') {
      const bool triple = out.compare(at, 3, std::string(3, c)) == 0;
      const size_t end = string_end(out, at, triple);
      if (triple) blank(out, at, end);
      at = end;
    } else if (c == '/' && at + 1 < out.size() && out[at + 1] == '/') {
      out[at + 1] = ' ';
      at += 2;
    } else {
      ++at;
    }
  }
  return out;
}

}  // namespace fathom::cpp
