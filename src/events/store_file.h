#pragma once

#include <filesystem>
#include <optional>

#include "base/content_stamp.h"
#include "base/result.h"
#include "events/event_store.h"

namespace fathom {

// A sealed store as a file whose columns are used where they lie: opening takes as long as mapping
// and checking it. For this program and machine only; anything else about the file, and it is as
// if it were not there.
class StoreFile {
 public:
  // Whole or not at all.
  static Status save(const EventStore& store, const ContentStamp& source,
                     const std::filesystem::path& path);
  // Nothing when the file is missing, damaged, of another version, or of another source.
  static std::optional<EventStore> load(const std::filesystem::path& path,
                                        const std::filesystem::path& source);
  // What follows the file's header, 64-byte aligned; nothing when any of it cannot be used.
  static std::optional<EventStore> read_body(std::span<const std::byte> body);
};

}  // namespace fathom
