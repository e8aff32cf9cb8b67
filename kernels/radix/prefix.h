// The longest common prefix of two token sequences, by the widest vectors that this CPU has.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace fathom::radix {

enum class PrefixPath { kPortable, kAvx2, kAvx512 };

bool supports(PrefixPath path);
const char* name_of(PrefixPath path);

// The offset of the first byte that differs, `bytes` where none does. The path has to be supported.
using FirstDifference = size_t (*)(const void* a, const void* b, size_t bytes);
FirstDifference first_difference(PrefixPath path);
// The widest supported path; chosen once.
size_t first_difference(const void* a, const void* b, size_t bytes);

// Which byte, in the order of memory, is the first that is not 0; one is.
inline size_t first_byte(uint64_t difference) {
  const int bit = std::endian::native == std::endian::little ? std::countr_zero(difference)
                                                             : std::countl_zero(difference);
  return static_cast<size_t>(bit) / 8;
}

// Number of leading elements that are equal.
template <class Token>
size_t common_prefix(std::span<const Token> a, std::span<const Token> b) {
  static_assert(sizeof(Token) == 4 || sizeof(Token) == 8);
  const size_t count = std::min(a.size(), b.size()), bytes = count * sizeof(Token);
  const auto *p = reinterpret_cast<const char*>(a.data()),
             *q = reinterpret_cast<const char*>(b.data());
  // The first words here: a call costs as much as comparing some 16 of them, and many sequences
  // that differ do so at once.
  constexpr size_t kInlineWords = 32;
  const size_t inline_bytes = 8 * std::min(bytes / 8, kInlineWords);
  for (size_t at = 0; at < inline_bytes; at += 8) {
    uint64_t left, right;
    std::memcpy(&left, p + at, 8);
    std::memcpy(&right, q + at, 8);
    if (left != right) return (at + first_byte(left ^ right)) / sizeof(Token);
  }
  const size_t rest = bytes - inline_bytes;
  if (rest == 0) return count;
  if (rest == sizeof(int32_t)) return count - (a[count - 1] == b[count - 1] ? 0 : 1);
  return (inline_bytes + first_difference(p + inline_bytes, q + inline_bytes, rest)) /
         sizeof(Token);
}

}  // namespace fathom::radix
