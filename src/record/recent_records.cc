#include "record/recent_records.h"

namespace fathom::record {
namespace {

// Where a record of this kind has its last time; none: it has no time of its own.
int time_offset(capture::ChunkKind kind) {
  switch (kind) {
    case capture::ChunkKind::kDrops:
      return -1;
    case capture::ChunkKind::kMarks:
    case capture::ChunkKind::kAllocations:
    case capture::ChunkKind::kNumbers:
    case capture::ChunkKind::kCounters:
      return 0;
    default:
      return 8;  // the end, after the start
  }
}

}  // namespace

void RecentRecords::add(capture::ChunkKind kind, uint16_t record_size, const uint8_t* records,
                        size_t count, int64_t now) {
  batches_.push_back({now, kind, record_size, {records, records + count * record_size}});
  bytes_ += batches_.back().bytes.size();
}

void RecentRecords::drop_old(int64_t now) {
  while (!batches_.empty() && (batches_.front().arrived < now - span_ || bytes_ > most_bytes_)) {
    const Batch& oldest = batches_.front();
    if (oldest.arrived >= now - span_) evicted_ += oldest.bytes.size() / oldest.record_size;
    bytes_ -= oldest.bytes.size();
    batches_.pop_front();
  }
}

void RecentRecords::release(int64_t now, capture::ChunkWriter& writer) {
  drop_old(now);
  for (const Batch& batch : batches_) {
    const int offset = time_offset(batch.kind);
    std::vector<uint8_t> kept;
    kept.reserve(batch.bytes.size());
    for (size_t at = 0; at < batch.bytes.size(); at += batch.record_size) {
      uint64_t time = static_cast<uint64_t>(now);
      if (offset >= 0)
        std::memcpy(&time, batch.bytes.data() + at + static_cast<size_t>(offset), sizeof time);
      if (static_cast<int64_t>(time) < now - span_) continue;
      kept.insert(kept.end(), batch.bytes.begin() + static_cast<std::ptrdiff_t>(at),
                  batch.bytes.begin() + static_cast<std::ptrdiff_t>(at + batch.record_size));
    }
    // One call of CUPTI's fills at most a buffer, which is smaller than the largest chunk.
    if (!kept.empty()) {
      writer.copy(batch.kind, batch.record_size,
                  {reinterpret_cast<const char*>(kept.data()), kept.size()});
    }
  }
  if (evicted_ > 0) {
    const capture::Drop drop{evicted_};
    writer.write<capture::Drop>(capture::ChunkKind::kDrops, {&drop, 1});
    evicted_ = 0;
  }
  batches_.clear();
  bytes_ = 0;
  holds_ = false;
}

}  // namespace fathom::record
