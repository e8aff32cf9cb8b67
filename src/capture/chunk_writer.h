#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/format.h"

namespace fathom::capture {

// Where a capture's bytes go.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  // 0, or what the system says of a failure (errno).
  virtual int write(std::string_view bytes) = 0;
};

// To a file, which it does not close.
class FileSink : public ByteSink {
 public:
  explicit FileSink(int fd) : fd_(fd) {}
  int write(std::string_view bytes) override;

 private:
  int fd_;
};

// Makes a capture. Each chunk is one write, so a program that is killed leaves whole chunks. Uses
// the C++ library and the system alone: it also runs inside the programs that are watched.
class ChunkWriter {
 public:
  explicit ChunkWriter(ByteSink& sink) : sink_(sink) {}

  bool begin();  // the mark of a new file
  // The same text has the same id. New ones are written before the next chunk of records.
  TextId text(std::string_view text);
  // Ids above those of another writer of the same file.
  void start_texts_at(TextId first) { next_ = first; }

  template <typename Record>
  bool write(ChunkKind kind, std::span<const Record> records) {
    const size_t most = kLargestChunk / sizeof(Record);
    for (; records.size() > most; records = records.subspan(most)) {
      if (!put(kind, sizeof(Record), records.data(), most * sizeof(Record))) return false;
    }
    return records.empty() || put(kind, sizeof(Record), records.data(), records.size_bytes());
  }
  bool write_meta(std::string_view lines);
  // A chunk of another capture, as it is.
  bool copy(ChunkKind kind, uint16_t record_size, std::string_view payload);

  // Bytes written, and the first failure (errno); after one nothing more is written.
  uint64_t size() const { return size_; }
  int failure() const { return failure_; }

 private:
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const;
  };

  bool put(ChunkKind kind, size_t record_size, const void* payload, size_t bytes);
  bool put_texts();
  bool put_out(std::string_view bytes);

  ByteSink& sink_;
  int failure_ = 0;
  uint64_t size_ = 0;
  TextId next_ = 1;
  std::unordered_map<std::string, TextId, TextHash, std::equal_to<>> texts_;
  std::string new_texts_, chunk_;
};

// What a chunk's hash is of.
uint64_t chunk_hash(const ChunkHead& head, std::string_view payload);

}  // namespace fathom::capture
