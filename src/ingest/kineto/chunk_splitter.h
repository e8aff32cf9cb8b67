#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/diagnostics.h"
#include "base/result.h"
#include "ingest/kineto/bracket_scanner.h"
#include "ingest/kineto/event_start.h"
#include "ingest/kineto/lenient_parser.h"

namespace fathom::kineto {

// A run of whole events, as the text of a JSON list with the padding that simdjson wants.
struct EventChunk {
  std::unique_ptr<char[]> buffer;
  size_t begin = 0, end = 0;         // of the list, brackets included
  int64_t file_offset = 0;           // of buffer[begin + 1] in the decompressed input
  std::vector<DamagedPart> damaged;  // counted from buffer[begin + 1]; in order

  std::string_view list() const { return {buffer.get() + begin, end - begin}; }
};

struct SplitLimits {
  size_t chunk_size = 4 << 20;
  size_t max_event = 512 << 20;          // a larger one ends the reading
  int64_t max_size = int64_t{64} << 30;  // of the decompressed input
};

// Cuts a trace into chunks of whole events, reading as it goes: neither the file nor its text is
// ever held as a whole. What stands beside the events is collected as the envelope.
class ChunkSplitter {
 public:
  // `name`: of the file, for messages about what it may be.
  explicit ChunkSplitter(ByteSource& source, const SplitLimits& limits = {}, std::string name = "")
      : source_(source), limits_(limits), name_(std::move(name)) {}

  // Nothing: no more events.
  Result<std::optional<EventChunk>> next();

  // After the last chunk. The text outside the events, with an empty list in their place.
  const std::string& envelope() const { return envelope_; }
  bool found_events() const { return found_events_; }
  // What was wrong with the file as a whole.
  const Diagnostics& diagnostics() const { return diagnostics_; }
  // The end of the file was not reached or not there.
  bool stopped_early() const {
    return diagnostics_.count(Flaw::kTruncated) + diagnostics_.count(Flaw::kSizeLimit) +
               diagnostics_.count(Flaw::kOversizedEvent) >
           0;
  }
  int64_t bytes_read() const { return offset_ + static_cast<int64_t>(size_ - begin_); }

 private:
  enum class Where { kStart, kBeside, kEvents, kEnd, kAnotherTrace };

  std::string_view unused() const { return {buffer_.get() + begin_, size_ - begin_}; }
  void use(size_t bytes) {
    begin_ += bytes;
    offset_ += static_cast<int64_t>(bytes);
  }
  Result<bool> read_more(size_t wanted);
  Result<bool> read_twice_as_much();
  void put_back(std::string_view back);
  Result<int64_t> skip_zeros();
  Status read_start();
  Status read_beside();
  void close_beside(char c);
  bool find_events_beside();
  void begin_events();
  void unread_envelope(size_t event);
  Status read_end();
  void count_events_after_end();
  Result<std::optional<EventChunk>> cut_chunk();
  // Nothing around the list tells where it ends.
  bool has_bare_list() const { return envelope_.empty() || resumed_; }
  Result<bool> is_list_end(size_t at);
  Result<Landmark> find_next(size_t suspect);
  void add_damaged(size_t begin, size_t end);
  std::optional<EventChunk> end_list(size_t at);
  std::optional<EventChunk> end_list_unclosed(size_t at);
  std::optional<EventChunk> end_damaged_list(const BracketScanner& scanner, size_t list_end);
  std::optional<EventChunk> stop_inside_list(size_t length, Flaw why);
  std::optional<EventChunk> take(size_t length);
  void copy_out(EventChunk& chunk, size_t first, size_t last) const;

  ByteSource& source_;
  SplitLimits limits_;
  std::string name_;

  // Bytes not yet used are buffer_[begin_, size_). One byte before begin_ and the padding after
  // size_ always belong to the buffer, so that a chunk can be handed on without a copy.
  std::unique_ptr<char[]> buffer_;
  size_t capacity_ = 0, begin_ = 0, size_ = 0;
  int64_t offset_ = 0;  // of buffer_[begin_] in the input
  bool source_ended_ = false;

  Where where_ = Where::kStart;
  bool found_events_ = false, first_chunk_ = true;
  int64_t commas_ = 0;                // seen since the last chunk's last event
  std::vector<DamagedPart> damaged_;  // of the text not yet used, counted from begin_
  int64_t looked_again_ = 0;          // bytes that were taken for parts of one broken event
  size_t patience_ = 64 << 10;
  bool no_more_events_ = false;  // the rest of the input was looked through
  bool resumed_ = false;         // events go on after the end of the trace
  std::string envelope_;
  Diagnostics diagnostics_;

  // While beside the events.
  std::string open_;  // the brackets around
  bool in_string_ = false, escaped_ = false;
};

}  // namespace fathom::kineto
