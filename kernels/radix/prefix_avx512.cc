// Compiled for AVX-512 F and BW: called only where the CPU has them.
#include <immintrin.h>

#include <bit>
#include <cstdint>

#include "prefix_paths.h"

namespace fathom::radix {

namespace {

// a ≠ b, or what `any` already says: one instruction for exclusive or and or.
__m512i gather_difference(__m512i any, const char* a, const char* b) {
  return _mm512_ternarylogic_epi64(any, _mm512_loadu_si512(a), _mm512_loadu_si512(b), 0xf6);
}

}  // namespace

size_t first_difference_avx512(const void* left, const void* right, size_t bytes) {
  const auto *a = static_cast<const char*>(left), *b = static_cast<const char*>(right);
  size_t at = 0;
  // Four vectors between branches.
  for (; at + 256 <= bytes; at += 256) {
    const __m512i zero = _mm512_setzero_si512();
    const __m512i first =
        gather_difference(gather_difference(zero, a + at, b + at), a + at + 64, b + at + 64);
    const __m512i second = gather_difference(gather_difference(zero, a + at + 128, b + at + 128),
                                             a + at + 192, b + at + 192);
    const __m512i any = _mm512_or_si512(first, second);
    if (_mm512_test_epi64_mask(any, any) != 0) break;
  }
  for (; at < bytes; at += 64) {
    const size_t rest = bytes - at;
    const __mmask64 valid = rest >= 64 ? ~__mmask64{0} : (__mmask64{1} << rest) - 1;
    const __mmask64 bits = _mm512_mask_cmpneq_epi8_mask(
        valid, _mm512_maskz_loadu_epi8(valid, a + at), _mm512_maskz_loadu_epi8(valid, b + at));
    if (bits != 0) return at + static_cast<size_t>(std::countr_zero(uint64_t{bits}));
  }
  return bytes;
}

size_t read_both_avx512(const void* left, const void* right, size_t bytes) {
  const auto *a = static_cast<const char*>(left), *b = static_cast<const char*>(right);
  __m512i x = _mm512_setzero_si512(), y = x, z = x, w = x;
  for (size_t at = 0; at + 256 <= bytes; at += 256) {
    x = _mm512_or_si512(x, _mm512_loadu_si512(a + at));
    y = _mm512_or_si512(y, _mm512_loadu_si512(b + at));
    z = _mm512_or_si512(z, _mm512_loadu_si512(a + at + 64));
    w = _mm512_or_si512(w, _mm512_loadu_si512(b + at + 64));
    x = _mm512_or_si512(x, _mm512_loadu_si512(a + at + 128));
    y = _mm512_or_si512(y, _mm512_loadu_si512(b + at + 128));
    z = _mm512_or_si512(z, _mm512_loadu_si512(a + at + 192));
    w = _mm512_or_si512(w, _mm512_loadu_si512(b + at + 192));
  }
  const __m512i all = _mm512_or_si512(_mm512_or_si512(x, y), _mm512_or_si512(z, w));
  return static_cast<size_t>(_mm512_test_epi8_mask(all, all));
}

}  // namespace fathom::radix
