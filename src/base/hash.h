#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace fathom {

// Both halves of a 128-bit product: every bit of either factor reaches every bit of the result.
inline uint64_t mix_bits(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a ^ 0x9e3779b97f4a7c15ull) * (b ^ 0xbf58476d1ce4e5b9ull);
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// For tables in memory: fast, and the same on every run, but no defence against chosen keys by
// itself; tables that hold a trace's text grow by what they hold, so a flood only costs time.
inline uint64_t hash_text(std::string_view text) {
  const auto load = [](const char* from, size_t size) {
    uint64_t word = 0;
    std::memcpy(&word, from, size);
    return word;
  };
  uint64_t hash = text.size();
  const char* at = text.data();
  size_t left = text.size();
  for (; left >= 16; at += 16, left -= 16) {
    hash = mix_bits(load(at, 8) ^ hash, load(at + 8, 8));
  }
  if (left >= 8) return mix_bits(load(at, 8) ^ hash, load(at + left - 8, 8));
  // Two overlapping words cover 4 to 7 bytes without a call of unknown length.
  if (left >= 4) return mix_bits(load(at, 4) ^ hash, load(at + left - 4, 4));
  uint64_t tail = 0;
  for (size_t i = 0; i < left; ++i) tail = tail << 8 | static_cast<unsigned char>(at[i]);
  return mix_bits(tail ^ hash, left);
}

}  // namespace fathom
