#pragma once

#include <cstdio>
#include <filesystem>
#include <optional>

#include "base/content_stamp.h"
#include "base/result.h"
#include "events/event_store.h"

namespace fathom {

// A sealed store as a file whose columns are used where they lie: opening takes as long as mapping
// and checking it and its source. For this program and machine only; any doubt about the file, and
// it is as if it were not there.
class StoreFile {
 public:
  // What a store was made from, and by which program (a hash of it).
  struct Origin {
    ContentStamp source;
    uint64_t program = 0;
  };
  // Whole or not at all. Replaces nothing but a file of this kind.
  static Status save(const EventStore& store, const Origin& origin,
                     const std::filesystem::path& path);
  // Nothing when the file is missing, damaged, of another program, or when the source's content is
  // not what it was made from. Every byte of both is hashed.
  static std::optional<EventStore> load(const std::filesystem::path& path,
                                        const std::filesystem::path& source, uint64_t program);
  // What follows the file's header, 64-byte aligned; nothing when any of it cannot be used.
  static std::optional<EventStore> read_body(std::span<const std::byte> body);

 private:
  static Status write(const EventStore& store, const Origin& origin, std::FILE* file);
};

}  // namespace fathom
