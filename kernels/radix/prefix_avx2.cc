// Compiled for AVX2: called only where the CPU has it.
#include <immintrin.h>

#include <bit>
#include <cstdint>

#include "prefix_paths.h"

namespace fathom::radix {

namespace {

__m256i load(const char* data) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data));
}

// One bit for each byte that differs.
uint32_t differing(const char* a, const char* b) {
  return ~static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(load(a), load(b))));
}

}  // namespace

size_t first_difference_avx2(const void* left, const void* right, size_t bytes) {
  const auto *a = static_cast<const char*>(left), *b = static_cast<const char*>(right);
  if (bytes < 32) return first_difference_portable(a, b, bytes);
  size_t at = 0;
  // Four vectors between branches.
  for (; at + 128 <= bytes; at += 128) {
    const __m256i first = _mm256_or_si256(_mm256_xor_si256(load(a + at), load(b + at)),
                                          _mm256_xor_si256(load(a + at + 32), load(b + at + 32)));
    const __m256i second = _mm256_or_si256(_mm256_xor_si256(load(a + at + 64), load(b + at + 64)),
                                           _mm256_xor_si256(load(a + at + 96), load(b + at + 96)));
    const __m256i any = _mm256_or_si256(first, second);
    if (!_mm256_testz_si256(any, any)) break;
  }
  for (; at + 32 <= bytes; at += 32) {
    if (const uint32_t bits = differing(a + at, b + at)) {
      return at + static_cast<size_t>(std::countr_zero(bits));
    }
  }
  if (at == bytes) return bytes;
  // The last vector overlaps bytes that are known to be equal.
  at = bytes - 32;
  const uint32_t bits = differing(a + at, b + at);
  return bits == 0 ? bytes : at + static_cast<size_t>(std::countr_zero(bits));
}

size_t read_both_avx2(const void* left, const void* right, size_t bytes) {
  const auto *a = static_cast<const char*>(left), *b = static_cast<const char*>(right);
  __m256i x = _mm256_setzero_si256(), y = x, z = x, w = x;
  for (size_t at = 0; at + 128 <= bytes; at += 128) {
    x = _mm256_or_si256(x, load(a + at)), y = _mm256_or_si256(y, load(b + at));
    z = _mm256_or_si256(z, load(a + at + 32)), w = _mm256_or_si256(w, load(b + at + 32));
    x = _mm256_or_si256(x, load(a + at + 64)), y = _mm256_or_si256(y, load(b + at + 64));
    z = _mm256_or_si256(z, load(a + at + 96)), w = _mm256_or_si256(w, load(b + at + 96));
  }
  const __m256i all = _mm256_or_si256(_mm256_or_si256(x, y), _mm256_or_si256(z, w));
  return static_cast<size_t>(static_cast<unsigned>(_mm256_movemask_epi8(all)));
}

}  // namespace fathom::radix
