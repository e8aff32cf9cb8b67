#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <span>
#include <vector>

#include "capture/chunk_writer.h"

namespace fathom::record {

// The records of the last seconds, kept in memory until a trigger asks for them. Used by one
// thread; times are nanoseconds of CLOCK_REALTIME.
class RecentRecords {
 public:
  explicit RecentRecords(int64_t span_ns, size_t most_bytes = size_t{256} << 20)
      : span_(span_ns), most_bytes_(most_bytes) {}

  // Whether records are kept instead of written.
  bool holds() const { return holds_; }
  // Records that begin before `until` belong to the window that has ended, however late they come.
  void hold(int64_t until) {
    holds_ = true;
    written_until_ = until;
  }
  // Writes what is held and reaches beyond `now` less the span; then records are written as they
  // come.
  void release(int64_t now, capture::ChunkWriter& writer);

  template <typename Record>
  void take(capture::ChunkKind kind, const std::vector<Record>& records, int64_t now,
            capture::ChunkWriter& writer) {
    std::vector<Record> late, kept;
    for (const Record& record : records)
      (begins(record, now) < written_until_ ? late : kept).push_back(record);
    writer.write<Record>(kind, late);
    if (!kept.empty())
      add(kind, sizeof(Record), reinterpret_cast<const uint8_t*>(kept.data()), kept.size(), now);
    drop_old(now);
  }

  size_t bytes() const { return bytes_; }
  // Records that had to go before their time, since there was no room.
  uint64_t evicted() const { return evicted_; }

 private:
  struct Batch {
    int64_t arrived;
    capture::ChunkKind kind;
    uint16_t record_size;
    std::vector<uint8_t> bytes;
  };

  template <typename Record>
  static int64_t begins(const Record& record, int64_t now) {
    if constexpr (requires { record.start; }) {
      return static_cast<int64_t>(record.start);
    } else if constexpr (requires { record.time; }) {
      return static_cast<int64_t>(record.time);
    } else {
      return now;
    }
  }
  void add(capture::ChunkKind kind, uint16_t record_size, const uint8_t* records, size_t count,
           int64_t now);
  void drop_old(int64_t now);

  const int64_t span_;
  const size_t most_bytes_;
  bool holds_ = true;
  int64_t written_until_ = 0;
  std::deque<Batch> batches_;
  size_t bytes_ = 0;
  uint64_t evicted_ = 0;
};

}  // namespace fathom::record
