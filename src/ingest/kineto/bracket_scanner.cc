#include "ingest/kineto/bracket_scanner.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <bit>
#include <cstring>

#include "ingest/kineto/event_start.h"

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

void BracketScanner::push(bool object) {
  const size_t word = depth_ / 64, bit = depth_ % 64;
  if (word == types_.size()) types_.push_back(0);
  types_[word] = (types_[word] & ~(uint64_t{1} << bit)) | uint64_t{object} << bit;
  ++depth_;
}

// Between the last event and `end` stand only spaces and commas.
bool BracketScanner::is_clean_gap(std::string_view text, size_t end) const {
  for (size_t i = event_end_; i < end; ++i) {
    if (!is_space(text[i]) && text[i] != ',') return false;
  }
  return true;
}

// False: it cannot be right.
bool BracketScanner::open(std::string_view text, size_t at) {
  const bool object = text[at] == '{';
  if (depth_ == 0) {
    if (!object || !is_clean_gap(text, at)) return false;
    cut_ = event_end_;
    event_begin_ = at;
    nested_ = SIZE_MAX;
  } else {
    // An event's brace at the least stands before it. Other control characters are left to parsers.
    size_t before = at - 1;
    while (static_cast<unsigned char>(text[before]) <= ' ') --before;
    const char previous = text[before];
    if (in_object() ? previous != ':' : previous != ',' && previous != '[') return false;
    if (object && previous != ':' && is_event_start(text, at)) {
      if (nested_ == SIZE_MAX) nested_ = at;
      if (at - nested_ >= patience_) return false;
    }
  }
  push(object);
  return true;
}

bool BracketScanner::close(std::string_view text, size_t at) {
  if (depth_ == 0 || in_object() != (text[at] == '}')) return false;
  if (--depth_ == 0) event_end_ = at + 1;
  return true;
}

BracketScanner::Found BracketScanner::scan(std::string_view text, bool is_all) {
  while (at_ < text.size()) {
    const size_t left = text.size() - at_;
    if (!is_all && left < kBlock + kEventStartLength) break;
    char tail[kBlock];
    const char* block = text.data() + at_;
    if (left < kBlock) {  // spaces change nothing
      std::memset(tail, ' ', kBlock);
      std::memcpy(tail, block, left);
      block = tail;
    }
    const BlockMasks masks = find_structure(block);
    const uint64_t quotes = drop_escaped(masks, escaped_);
    const uint64_t strings = prefix_parity(quotes) ^ (in_string_ ? ~uint64_t{0} : 0);
    in_string_ = strings >> 63;
    uint64_t places = masks.open | (masks.close & ~strings) | (masks.line_break & strings);
    for (; places != 0; places &= places - 1) {
      const int bit = std::countr_zero(places);
      const size_t at = at_ + static_cast<size_t>(bit);
      if (strings >> bit & 1) {
        if (text[at] == '\n' || (text[at] == '{' && is_event_start(text, at))) return {{}, at};
      } else if (masks.open >> bit & 1) {
        if (!open(text, at)) return {{}, at};
      } else if (!close(text, at)) {
        if (depth_ == 0 && text[at] == ']') return {at, {}};
        return {{}, at};
      }
    }
    at_ += std::min(kBlock, left);
  }
  return {};
}

}  // namespace fathom::kineto
