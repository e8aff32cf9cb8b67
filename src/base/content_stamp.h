#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace fathom {

// What tells whether a file still has the content it had. The cheap part is compared first: size,
// time and a sample of blocks. A copied or touched file fails it and is told by its whole content.
struct ContentStamp {
  uint64_t size = 0;
  int64_t modified = 0;  // ns
  uint64_t sample = 0;   // hash of the first, the last and some blocks in between
  uint64_t content = 0;  // hash of all of it

  bool same_at_a_glance(const ContentStamp& other) const {
    return size == other.size && modified == other.modified && sample == other.sample;
  }
  bool same_content(const ContentStamp& other) const {
    return size == other.size && sample == other.sample && content == other.content;
  }
};

// Nothing for what is no regular file.
std::optional<ContentStamp> glance_at(const std::filesystem::path& path);
// With the hash of the whole content, which takes a read of the file.
std::optional<ContentStamp> stamp_of(const std::filesystem::path& path);

}  // namespace fathom
