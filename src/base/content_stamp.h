#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include "base/content_hash.h"

namespace fathom {

// What a file holds. Times and inodes are not part of it: they can stay the same while the content
// changes, and change while it stays.
struct ContentStamp {
  uint64_t size = 0;
  uint64_t content = 0;  // ContentHash of all of it

  bool operator==(const ContentStamp&) const = default;
};

// Takes a read of the file. Nothing for what is no regular file.
std::optional<ContentStamp> stamp_of(const std::filesystem::path& path);

// The stamp of what was really read, taken while it was read: a file that changes meanwhile cannot
// pass for the one that was read.
class ReadingStamp {
 public:
  void begin(int fd);
  void add(std::span<const char> bytes) { hash_.add({bytes.data(), bytes.size()}); }
  // Reads on where only a little is left, such as bytes behind the end of the compressed data.
  void end(int fd);

  // Nothing for what is no regular file, was not read to its end, or changed meanwhile.
  std::optional<ContentStamp> value() const { return value_; }

 private:
  struct stat before_ = {};
  ContentHash hash_;
  std::optional<ContentStamp> value_;
};

}  // namespace fathom
