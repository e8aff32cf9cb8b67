#include "base/shell_text.h"

#include <algorithm>

#include "base/ascii.h"

namespace fathom {

std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain = "_-+=./,:@%^";
  const bool is_plain = !word.empty() && std::ranges::all_of(word, [&](char c) {
    return is_letter(c) || is_digit(c) || kPlain.find(c) != std::string_view::npos;
  });
  if (is_plain) return std::string(word);
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

}  // namespace fathom
