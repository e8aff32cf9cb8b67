// The longest common prefix of two token sequences, by the widest vectors that this CPU has.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

// Number of leading elements that are equal.
template <class Token>
size_t common_prefix(std::span<const Token> a, std::span<const Token> b) {
  static_assert(sizeof(Token) == 4 || sizeof(Token) == 8);
  // The first elements here: a call would cost more than comparing a few, and most sequences that
  // differ do so at once.
  constexpr size_t kInline = 8;
  const size_t count = std::min(a.size(), b.size());
  for (size_t i = 0; i < count; ++i) {
    if (i == kInline) {
      const size_t rest = (count - i) * sizeof(Token);
      return i + first_difference(a.data() + i, b.data() + i, rest) / sizeof(Token);
    }
    if (a[i] != b[i]) return i;
  }
  return count;
}

}  // namespace fathom::radix
