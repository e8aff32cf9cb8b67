#pragma once

#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_source.h"
#include "base/diagnostics.h"
#include "base/utf8.h"
#include "capture/format.h"
#include "events/event.h"

namespace fathom::capture {

// Whether these are the first bytes of a capture.
bool is_capture(std::string_view head);
// Of a file, compressed or not; false where it cannot be read.
bool is_capture_file(const std::string& path);

struct Chunk {
  ChunkKind kind{};
  uint16_t record_size = 0;
  std::string payload;
};

// Calls visit(id, text) for the texts of a chunk of strings, as far as they are whole; bytes that
// are no UTF-8 are '?'.
template <typename Visit>
void for_each_text(std::string_view payload, Visit visit) {
  while (payload.size() >= 8) {
    uint32_t id = 0, length = 0;
    std::memcpy(&id, payload.data(), sizeof id);
    std::memcpy(&length, payload.data() + sizeof id, sizeof length);
    payload.remove_prefix(8);
    if (length > payload.size()) return;
    visit(id, std::string_view(with_valid_utf8(payload.substr(0, length))));
    payload.remove_prefix(length);
  }
}

// Calls visit(record) for the records of a chunk of this kind of them.
template <typename Record, typename Visit>
void for_each_record(const Chunk& chunk, Visit visit) {
  if (chunk.record_size < sizeof(Record)) return;
  for (size_t at = 0; at + chunk.record_size <= chunk.payload.size(); at += chunk.record_size) {
    Record record;
    std::memcpy(&record, chunk.payload.data() + at, sizeof record);
    visit(record);
  }
}

// The facts of a chunk of them, each a line of fields; fields[0] is the name. They are UTF-8, too.
void for_each_fact(std::string_view bytes,
                   const std::function<void(const std::vector<std::string_view>&)>& visit);
void for_each_gpu(std::string_view payload, const std::function<void(const GpuProperties&)>& visit);
std::optional<int64_t> whole_number_in(std::string_view text);

// The whole chunks of a capture, in order. What is damaged is skipped to the next chunk and
// counted.
class ChunkReader {
 public:
  ChunkReader(ByteSource& source, int64_t max_size) : source_(source), left_(max_size) {}

  // Nothing at the end.
  Result<std::optional<Chunk>> next();
  // All of them. Fails on a file that is no capture or cannot be read; `shown` names it.
  Status for_each(const std::string& shown, const std::function<void(const Chunk&)>& visit);
  bool begins_well();  // the file's mark; first of all

  const Diagnostics& diagnostics() const { return diagnostics_; }
  int64_t bytes_read() const { return read_; }

 private:
  // Whether so many bytes lie in the window from `at_` on, after reading more if need be.
  Result<bool> have(size_t bytes);
  void skip_damaged(size_t bytes);
  // Whether so many bytes may be looked at once more: crafted heads must not make it quadratic.
  bool may_examine(size_t bytes);

  ByteSource& source_;
  std::string window_;
  size_t at_ = 0;
  int64_t left_, read_ = 0, examined_ = 0;
  bool ended_ = false, in_damage_ = false;
  Diagnostics diagnostics_;
};

}  // namespace fathom::capture
