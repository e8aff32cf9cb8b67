#include "base/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>

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

struct Range {
  char32_t first, last;
};

bool is_in(std::span<const Range> ranges, char32_t c) {
  return std::ranges::any_of(ranges, [c](Range r) { return c >= r.first && c <= r.last; });
}

constexpr Range kUnseen[] = {
    {0, 0x1f},          {0x7f, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},
    {0x61c, 0x61c},     {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},
    {0x200b, 0x200b},   {0x200e, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},
    {0x3164, 0x3164},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb},
    {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe00ff}, {0xe01f0, 0xe0fff}};
constexpr Range kSelectors[] = {{0xfe00, 0xfe0f}, {0xe0100, 0xe01ef}};

bool is_joiner(char32_t c) { return c == 0x200c || c == 0x200d; }

// Where the character before `at`, which is not 0, begins.
size_t character_before(std::string_view text, size_t at) {
  do --at;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80);
  return at;
}

// A selector changes the look of the one character before it, a joiner binds to it.
bool joins_something(std::string_view text, size_t at, char32_t c) {
  if (at == 0) return false;
  const size_t before = character_before(text, at);
  if (static_cast<unsigned char>(text[before]) < 0x80 || sequence_length(text, before) == 0)
    return false;
  const char32_t previous = character_at(text, before);
  if (is_joiner(previous) || is_in(kUnseen, previous)) return false;
  return is_joiner(c) || !is_in(kSelectors, previous);
}

}  // namespace

char32_t character_at(std::string_view text, size_t at) {
  const size_t length = sequence_length(text, at);
  const auto first = static_cast<unsigned char>(text[at]);
  if (length <= 1) return first;
  char32_t code = first & (0xffU >> (length + 1));
  for (size_t i = at + 1; i < at + length; ++i)
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3f);
  return code;
}

size_t unseen_length(std::string_view text, size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first >= 0x20 && first < 0x7f) return 0;
  const size_t length = sequence_length(text, at);
  if (length == 0) return 0;
  const char32_t c = character_at(text, at);
  if (is_in(kUnseen, c)) return length;
  if (!is_joiner(c) && !is_in(kSelectors, c)) return 0;
  return joins_something(text, at, c) ? 0 : length;
}

std::string with_unseen_escaped(std::string_view anything, std::string_view kept) {
  const std::string text = with_valid_utf8(anything);
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const size_t length = unseen_length(text, i);
    if (length == 0 || (length == 1 && kept.find(text[i]) != std::string_view::npos)) {
      out += text[i++];
      continue;
    }
    const char32_t c = character_at(text, i);
    i += length;
    if (c == '\n' || c == '\t' || c == '\r') {
      out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r";
    } else {
      const auto code = static_cast<uint32_t>(c);
      out += code > 0xffff ? fmt::format("\\U{:08x}", code) : fmt::format("\\u{:04x}", code);
    }
  }
  return out;
}

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
