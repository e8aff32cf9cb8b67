#include <bit>
#include <cstdint>
#include <cstring>

#include "prefix_paths.h"

namespace fathom::radix {

namespace {

uint64_t word_at(const void* data, size_t offset) {
  uint64_t word;
  std::memcpy(&word, static_cast<const char*>(data) + offset, sizeof word);
  return word;
}

// Which byte, in the order of memory, is the first that is not 0; one is.
size_t first_byte(uint64_t difference) {
  const int bit = std::endian::native == std::endian::little ? std::countr_zero(difference)
                                                             : std::countl_zero(difference);
  return static_cast<size_t>(bit) / 8;
}

}  // namespace

size_t first_difference_portable(const void* a, const void* b, size_t bytes) {
  size_t at = 0;
  // Four words between branches; the words are looked at one by one only where they differ.
  for (; at + 32 <= bytes; at += 32) {
    const uint64_t any =
        (word_at(a, at) ^ word_at(b, at)) | (word_at(a, at + 8) ^ word_at(b, at + 8)) |
        (word_at(a, at + 16) ^ word_at(b, at + 16)) | (word_at(a, at + 24) ^ word_at(b, at + 24));
    if (any != 0) break;
  }
  for (; at + 8 <= bytes; at += 8) {
    const uint64_t difference = word_at(a, at) ^ word_at(b, at);
    if (difference != 0) return at + first_byte(difference);
  }
  const auto *p = static_cast<const char*>(a), *q = static_cast<const char*>(b);
  for (; at < bytes; ++at) {
    if (p[at] != q[at]) return at;
  }
  return bytes;
}

size_t read_both_portable(const void* a, const void* b, size_t bytes) {
  uint64_t x = 0, y = 0, z = 0, w = 0;
  size_t at = 0;
  for (; at + 16 <= bytes; at += 16) {
    x |= word_at(a, at), y |= word_at(b, at);
    z |= word_at(a, at + 8), w |= word_at(b, at + 8);
  }
  return x | y | z | w;
}

}  // namespace fathom::radix
