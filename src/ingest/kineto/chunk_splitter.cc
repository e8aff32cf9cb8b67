#include "ingest/kineto/chunk_splitter.h"

#include <simdjson.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cstring>

namespace fathom::kineto {
namespace {

constexpr size_t kBlock = 64;
constexpr size_t kPadding = simdjson::SIMDJSON_PADDING + kBlock;
constexpr size_t kFront = 1;  // for the bracket that opens a chunk's list
constexpr size_t kMaxKey = 64;

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// One bit per byte of a block.
struct BlockMasks {
  uint64_t quote = 0, backslash = 0, open = 0, close = 0;
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
    for (uint64_t bits = (masks.open | masks.close) & ~strings; bits != 0; bits &= bits - 1) {
      const int i = std::countr_zero(bits);
      if (masks.open >> i & 1) {
        ++depth_;
      } else if (depth_ > 0) {
        if (--depth_ == 0) found.last_value_end = at + i + 1;
      } else {
        found.list_end = at + i;
        return found;
      }
    }
  }
  return found;
}

Result<bool> ChunkSplitter::read_more(size_t wanted) {
  if (source_ended_) return false;
  const size_t kept = size_ - begin_;
  if (buffer_ == nullptr || begin_ + kept + wanted + kPadding > capacity_) {
    capacity_ = kFront + kept + wanted + kPadding;
    auto grown = std::make_unique_for_overwrite<char[]>(capacity_);
    if (kept > 0) std::memcpy(grown.get() + kFront, buffer_.get() + begin_, kept);
    buffer_ = std::move(grown);
    begin_ = kFront;
    size_ = kFront + kept;
  }
  const size_t got = TRY(source_.read({buffer_.get() + size_, wanted}));
  size_ += got;
  if (got < wanted) source_ended_ = true;
  return got > 0;
}

Result<std::optional<EventChunk>> ChunkSplitter::next() {
  while (where_ != Where::kEnd || begin_ < size_ || !source_ended_) {
    if (where_ == Where::kEvents) {
      std::optional<EventChunk> chunk = TRY(cut_chunk());
      if (chunk) return chunk;
      continue;
    }
    if (begin_ == size_ && !TRY(read_more(chunk_size_))) break;
    switch (where_) {
      case Where::kStart:
        TRY(read_start());
        break;
      case Where::kBeside:
        read_beside();
        break;
      case Where::kEnd:
        read_end();
        break;
      case Where::kEvents:
        break;
    }
  }
  if (where_ != Where::kEnd || source_.truncated()) truncated_ = true;
  return std::optional<EventChunk>();
}

Status ChunkSplitter::read_start() {
  static constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (offset_ == 0 &&
      std::string_view(buffer_.get() + begin_, size_ - begin_).starts_with(kByteOrderMark)) {
    begin_ += kByteOrderMark.size();
    offset_ += static_cast<int64_t>(kByteOrderMark.size());
  }
  for (; begin_ < size_; ++begin_, ++offset_) {
    const char c = buffer_[begin_];
    if (is_space(c)) continue;
    if (c == '{') {
      where_ = Where::kBeside;
    } else if (c == '[') {
      where_ = Where::kEvents;
      found_events_ = true;
      ++begin_;
      ++offset_;
    } else {
      return Error{"it is not JSON: a trace begins with { or ["};
    }
    break;
  }
  return Nothing{};
}

// Byte by byte: what stands beside the events is small.
void ChunkSplitter::read_beside() {
  while (begin_ < size_ && where_ == Where::kBeside) {
    const char c = buffer_[begin_++];
    ++offset_;
    envelope_ += c;
    if (in_string_) {
      if (escaped_) {
        escaped_ = false;
      } else if (c == '\\') {
        escaped_ = true;
      } else if (c == '"') {
        in_string_ = false;
        continue;
      }
      if (string_.size() < kMaxKey) string_ += c;
      continue;
    }
    if (is_space(c)) continue;
    switch (c) {
      case '"':
        in_string_ = true;
        string_.clear();
        break;
      case ':':
        if (depth_ == 1) key_ = string_;
        continue;  // keeps the key for the value that follows
      case '{':
        ++depth_;
        break;
      case '[':
        if (depth_ == 1 && key_ == "traceEvents") {
          where_ = Where::kEvents;
          if (!found_events_) head_size_ = envelope_.size();
          found_events_ = true;
        } else {
          ++depth_;
        }
        break;
      case '}':
      case ']':
        if (--depth_ == 0) where_ = Where::kEnd;
        break;
      default:
        break;
    }
    key_.clear();
  }
}

void ChunkSplitter::read_end() {
  for (; begin_ < size_; ++begin_, ++offset_) {
    if (!is_space(buffer_[begin_])) text_after_end_ = true;
  }
}

Result<std::optional<EventChunk>> ChunkSplitter::cut_chunk() {
  BracketScanner scanner;
  size_t scanned = 0, cut = 0;
  while (true) {
    const std::string_view fresh(buffer_.get() + begin_ + scanned, size_ - begin_ - scanned);
    const BracketScanner::Found found = scanner.scan(fresh);
    if (found.last_value_end) cut = scanned + *found.last_value_end;
    if (found.list_end) {
      const size_t end = scanned + *found.list_end;
      std::optional<EventChunk> chunk = take(end);
      where_ = envelope_.empty() ? Where::kEnd : Where::kBeside;
      envelope_ += envelope_.empty() ? "" : "]";
      if (!chunk) {
        ++begin_;
        ++offset_;
      }
      return chunk;
    }
    scanned = size_ - begin_;
    if (cut > 0 && scanned >= chunk_size_) return take(cut);
    // An event larger than a chunk: look further, doubling, so that the cost stays linear.
    if (!TRY(read_more(std::max(chunk_size_, scanned)))) {
      truncated_ = true;
      std::optional<EventChunk> chunk = take(cut);
      where_ = Where::kEnd;
      begin_ = size_;  // half an event
      return chunk;
    }
  }
}

// Hands on the first `length` bytes as a list, or just steps over them when they hold no event.
std::optional<EventChunk> ChunkSplitter::take(size_t length) {
  size_t first = begin_;
  const size_t end = begin_ + length;
  while (first < end && (is_space(buffer_[first]) || buffer_[first] == ',')) ++first;
  size_t last = end;
  while (last > first && (is_space(buffer_[last - 1]) || buffer_[last - 1] == ',')) --last;
  if (first == last) {
    offset_ += static_cast<int64_t>(length);
    begin_ = end;
    return std::nullopt;
  }
  // What follows the cut moves to a buffer of its own; this one goes with the chunk. When the list
  // ends here, its closing bracket is left out of what follows.
  const bool at_list_end = end < size_ && buffer_[end] == ']';
  const size_t rest_begin = at_list_end ? end + 1 : end;
  const size_t rest = size_ - rest_begin;
  const size_t capacity = kFront + rest + chunk_size_ + kPadding;
  auto following = std::make_unique_for_overwrite<char[]>(capacity);
  std::memcpy(following.get() + kFront, buffer_.get() + rest_begin, rest);

  EventChunk chunk;
  chunk.begin = first - 1;
  chunk.end = last + 1;
  chunk.file_offset = offset_ + static_cast<int64_t>(first - begin_);
  buffer_[chunk.begin] = '[';
  buffer_[last] = ']';
  std::memset(buffer_.get() + chunk.end, ' ',
              std::min(simdjson::SIMDJSON_PADDING, capacity_ - chunk.end));
  chunk.buffer = std::move(buffer_);

  offset_ += static_cast<int64_t>(rest_begin - begin_);
  buffer_ = std::move(following);
  capacity_ = capacity;
  begin_ = kFront;
  size_ = kFront + rest;
  return chunk;
}

std::string ChunkSplitter::envelope_head() const { return envelope_.substr(0, head_size_) + "]}"; }

}  // namespace fathom::kineto
