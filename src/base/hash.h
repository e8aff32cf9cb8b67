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

// Two secrets, one for each factor of a product: without knowing them nobody can choose texts whose
// products vanish or meet.
struct HashKeys {
  uint64_t first = 0, second = 0;
};

// The same on every run with the same keys. With the default ones it is a stamp of content and no
// defence against chosen texts: a table's is TableHash.
inline uint64_t hash_text(std::string_view text, HashKeys keys = {}) {
  const auto load = [](const char* from, size_t size) {
    uint64_t word = 0;
    std::memcpy(&word, from, size);
    return word;
  };
  uint64_t hash = text.size() ^ keys.first;
  const char* at = text.data();
  size_t left = text.size();
  for (; left >= 16; at += 16, left -= 16) {
    hash = mix_bits(load(at, 8) ^ hash, load(at + 8, 8) ^ keys.second);
  }
  if (left >= 8) return mix_bits(load(at, 8) ^ hash, load(at + left - 8, 8) ^ keys.second);
  // Two overlapping words cover 4 to 7 bytes without a call of unknown length.
  if (left >= 4) return mix_bits(load(at, 4) ^ hash, load(at + left - 4, 4) ^ keys.second);
  uint64_t tail = 0;
  for (size_t i = 0; i < left; ++i) tail = tail << 8 | static_cast<unsigned char>(at[i]);
  return mix_bits(tail ^ hash, left ^ keys.second);
}

// Other in every process. Nothing that is written may depend on it.
const HashKeys& table_keys();

// For tables whose keys come from the input: its author cannot make them collide.
struct TableHash {
  using is_transparent = void;

  size_t operator()(std::string_view text) const { return hash_text(text, table_keys()); }
  size_t operator()(uint64_t number) const {
    return mix_bits(number ^ table_keys().first, table_keys().second);
  }
  // Of several numbers, such as ids; their order counts.
  template <typename... Numbers>
    requires(sizeof...(Numbers) > 1)
  size_t operator()(Numbers... numbers) const {
    uint64_t hash = table_keys().first;
    ((hash = mix_bits(static_cast<uint64_t>(numbers) ^ hash, table_keys().second)), ...);
    return hash;
  }
};

}  // namespace fathom
