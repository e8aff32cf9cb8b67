// The longest common prefix of two token sequences, by the widest vectors that this CPU has.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace fathom::radix {

enum class PrefixPath { kPortable, kAvx2, kAvx512 };

bool supports(PrefixPath path);
const char* name_of(PrefixPath path);

// The offset of the first byte that differs, `bytes` where none does. The path has to be supported.
using FirstDifference = size_t (*)(const void* a, const void* b, size_t bytes);
FirstDifference first_difference(PrefixPath path);
// The widest supported path; chosen once.
size_t first_difference(const void* a, const void* b, size_t bytes);

// The elements from i on, at least one; 32 bytes before them are known to be equal.
template <class Token>
size_t after_single(const Token* a, const Token* b, size_t i, size_t count) {
#if defined(__SSE2__)  // every x86-64 has it
  constexpr size_t kBlock = 32 / sizeof(Token), kBlocks = 8;
  const auto equal_bytes = [&](size_t at) {
    const auto load = [](const Token* from) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    };
    const __m128i low = _mm_cmpeq_epi8(load(a + at), load(b + at));
    const __m128i high = _mm_cmpeq_epi8(load(a + at + kBlock / 2), load(b + at + kBlock / 2));
    return static_cast<uint32_t>(_mm_movemask_epi8(low)) |
           static_cast<uint32_t>(_mm_movemask_epi8(high)) << 16;
  };
  const size_t end = std::min(count, i + kBlocks * kBlock);
  for (; i < end; i += kBlock) {
    const size_t at = std::min(i, count - kBlock);  // the last block overlaps equal ones
    const uint32_t equal = equal_bytes(at);
    if (equal != ~uint32_t{0}) {
      return at + static_cast<size_t>(std::countr_one(equal)) / sizeof(Token);
    }
  }
  if (i >= count) return count;
#endif
  return i + first_difference(a + i, b + i, (count - i) * sizeof(Token)) / sizeof(Token);
}

// Two elements of 4 bytes in one register. Two pairs differ in their first elements where the lower
// halves do.
inline uint64_t pair(const void* at) {
  uint64_t both;
  std::memcpy(&both, at, sizeof both);
  return both;
}

// Number of leading elements that are equal. The first ones are compared here: a call costs as much
// as comparing a dozen, and many sequences are short or differ at once.
template <class Token>
size_t common_prefix(std::span<const Token> a, std::span<const Token> b) {
  static_assert(sizeof(Token) == 4 || sizeof(Token) == 8);
  constexpr size_t kSingle = 9;
  const size_t count = std::min(a.size(), b.size());
  if (count == 0 || a[0] != b[0]) return 0;
  size_t i = 1;
  if constexpr (sizeof(Token) == 4 && std::endian::native == std::endian::little) {
    for (; i + 2 <= count; i += 2) {
      if (i == kSingle) return after_single(a.data(), b.data(), i, count);
      const uint64_t differing = pair(&a[i]) ^ pair(&b[i]);
      if (differing != 0) return i + (static_cast<uint32_t>(differing) == 0 ? 1 : 0);
    }
  }
  for (; i < count; ++i) {
    if (i == kSingle) return after_single(a.data(), b.data(), i, count);
    if (a[i] != b[i]) return i;
  }
  return count;
}

}  // namespace fathom::radix
