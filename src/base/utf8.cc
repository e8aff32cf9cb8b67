#include "base/utf8.h"

#include <cstdint>

namespace fathom {
namespace {

// The length of the sequence that begins here, or 0.
size_t sequence_length(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + length > text.size()) return 0;
  uint32_t code = first & (0xff >> (length + 1));
  for (size_t i = at + 1; i < at + length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  // No longer than needed, no surrogates, nothing beyond Unicode.
  const bool too_long = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return too_long || surrogate || code > 0x10ffff ? 0 : length;
}

}  // namespace

std::string cut_to_bytes(std::string_view text, size_t bytes) {
  if (text.size() <= bytes) return std::string(text);
  constexpr size_t kLongestCharacter = 4;
  size_t end = bytes;
  while (end > 0 && end + kLongestCharacter > bytes &&
         (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) {
    --end;
  }
  return std::string(text.substr(0, end)) + "…";
}

std::string with_valid_utf8(std::string_view text) {
  std::string out(text);
  for (size_t i = 0; i < out.size();) {
    const size_t length = sequence_length(out, i);
    if (length == 0) out[i] = '?';
    i += length == 0 ? 1 : length;
  }
  return out;
}

}  // namespace fathom
