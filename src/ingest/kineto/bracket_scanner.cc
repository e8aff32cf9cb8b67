#include "ingest/kineto/bracket_scanner.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <bit>
#include <cstring>

namespace fathom::kineto {
namespace {

constexpr size_t kBlock = 64;

// One bit per byte of a block.
struct BlockMasks {
  uint64_t quote = 0, backslash = 0, open = 0, close = 0, line_break = 0;
};

#if defined(__SSE2__)
BlockMasks find_structure(const char* block) {
  BlockMasks masks;
  for (int i = 0; i < 4; ++i) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + i * 16));
    // { } and [ ] differ from each other by one bit only.
    const __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
    const auto equal = [i](__m128i a, char c) {
      return static_cast<uint64_t>(
                 static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(a, _mm_set1_epi8(c)))))
             << (i * 16);
    };
    masks.quote |= equal(bytes, '"');
    masks.backslash |= equal(bytes, '\\');
    masks.open |= equal(folded, '{');
    masks.close |= equal(folded, '}');
    masks.line_break |= equal(bytes, '\n');
  }
  return masks;
}
#else
BlockMasks find_structure(const char* block) {
  BlockMasks masks;
  for (size_t i = 0; i < kBlock; ++i) {
    masks.quote |= uint64_t{block[i] == '"'} << i;
    masks.backslash |= uint64_t{block[i] == '\\'} << i;
    masks.open |= uint64_t{(block[i] | 0x20) == '{'} << i;
    masks.close |= uint64_t{(block[i] | 0x20) == '}'} << i;
    masks.line_break |= uint64_t{block[i] == '\n'} << i;
  }
  return masks;
}
#endif

// Quotes that an odd run of backslashes makes part of the string are no quotes.
uint64_t drop_escaped(const BlockMasks& masks, bool& escaped) {
  if (masks.backslash == 0 && !escaped) return masks.quote;
  uint64_t quotes = masks.quote;
  for (size_t i = 0; i < kBlock; ++i) {
    const uint64_t bit = uint64_t{1} << i;
    if (escaped) {
      quotes &= ~bit;
      escaped = false;
    } else {
      escaped = (masks.backslash & bit) != 0;
    }
  }
  return quotes;
}

// Bit i is the parity of the bits up to and including i: set from an opening quote to before the
// closing one.
uint64_t prefix_parity(uint64_t bits) {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

}  // namespace

BracketScanner::Found BracketScanner::scan(std::string_view piece) {
  Found found;
  for (size_t at = 0; at < piece.size(); at += kBlock) {
    char tail[kBlock];
    const char* block = piece.data() + at;
    if (piece.size() - at < kBlock) {
      // Spaces change nothing, so a short last block needs no care of its own, but for a backslash
      // at its very end: the next piece must know.
      std::memset(tail, ' ', kBlock);
      std::memcpy(tail, block, piece.size() - at);
      block = tail;
    }
    const BlockMasks masks = find_structure(block);
    bool escaped_after = escaped_;
    const uint64_t quotes = drop_escaped(masks, escaped_after);
    if (block == tail && piece.size() > at) {
      bool escaped = escaped_;
      for (size_t i = at; i < piece.size(); ++i) escaped = !escaped && piece[i] == '\\';
      escaped_after = escaped;
    }
    escaped_ = escaped_after;
    const uint64_t strings = prefix_parity(quotes) ^ (in_string_ ? ~uint64_t{0} : 0);
    in_string_ = strings >> 63;
    const uint64_t broken = masks.line_break & strings;
    uint64_t brackets = (masks.open | masks.close) & ~strings;
    if (broken != 0) brackets &= (broken & -broken) - 1;  // those before the line break
    for (; brackets != 0; brackets &= brackets - 1) {
      const int i = std::countr_zero(brackets);
      if (masks.open >> i & 1) {
        ++depth_;
      } else if (depth_ > 0) {
        if (--depth_ == 0) found.last_value_end = at + i + 1;
      } else {
        found.list_end = at + i;
        return found;
      }
    }
    if (broken != 0) {
      found.broken_string = at + std::countr_zero(broken);
      return found;
    }
  }
  return found;
}

}  // namespace fathom::kineto
