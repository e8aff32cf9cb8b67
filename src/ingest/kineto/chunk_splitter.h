#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/byte_source.h"
#include "base/result.h"

namespace fathom::kineto {

// Follows strings, escapes and brackets through JSON text that comes in pieces.
class BracketScanner {
 public:
  struct Found {
    // End of the last value that closed at depth 0, counted from the start of the piece.
    std::optional<size_t> last_value_end;
    // The bracket that closes the list we are in; nothing after it was looked at.
    std::optional<size_t> list_end;
  };
  Found scan(std::string_view piece);

 private:
  bool in_string_ = false, escaped_ = false;
  int64_t depth_ = 0;
};

// A run of whole events, as the text of a JSON list with the padding that simdjson wants.
struct EventChunk {
  std::unique_ptr<char[]> buffer;
  size_t begin = 0, end = 0;  // of the list, brackets included
  int64_t file_offset = 0;    // of buffer[begin + 1] in the decompressed input

  std::string_view list() const { return {buffer.get() + begin, end - begin}; }
};

// Cuts a trace into chunks of whole events, reading as it goes: neither the file nor its text is
// ever held as a whole. What stands beside the events is collected as the envelope.
class ChunkSplitter {
 public:
  static constexpr size_t kDefaultChunk = 4 << 20;

  explicit ChunkSplitter(ByteSource& source, size_t chunk_size = kDefaultChunk)
      : source_(source), chunk_size_(chunk_size) {}

  // Nothing: no more events.
  Result<std::optional<EventChunk>> next();

  // After the last chunk. The text outside the events, with an empty list in their place.
  const std::string& envelope() const { return envelope_; }
  // The envelope up to the events, closed: it stands when the rest of the file does not.
  std::string envelope_head() const;
  bool found_events() const { return found_events_; }
  bool truncated() const { return truncated_; }
  bool text_after_end() const { return text_after_end_; }
  int64_t bytes_read() const { return offset_ + static_cast<int64_t>(size_ - begin_); }

 private:
  enum class Where { kStart, kBeside, kEvents, kEnd };

  Result<bool> read_more(size_t wanted);
  Status skip_to_events();
  Status read_start();
  void read_beside();
  void read_end();
  Result<std::optional<EventChunk>> cut_chunk();
  std::optional<EventChunk> take(size_t length);

  ByteSource& source_;
  size_t chunk_size_;

  // Bytes not yet used are buffer_[begin_, size_). One byte before begin_ and the padding after
  // size_ always belong to the buffer, so that a chunk can be handed on without a copy.
  std::unique_ptr<char[]> buffer_;
  size_t capacity_ = 0, begin_ = 0, size_ = 0;
  int64_t offset_ = 0;  // of buffer_[begin_] in the input
  bool source_ended_ = false;

  Where where_ = Where::kStart;
  bool found_events_ = false, truncated_ = false, text_after_end_ = false;
  std::string envelope_;
  size_t head_size_ = 0;

  // While beside the events.
  int64_t depth_ = 0;
  bool in_string_ = false, escaped_ = false;
  std::string string_, key_;
  bool key_complete_ = false;
};

}  // namespace fathom::kineto
