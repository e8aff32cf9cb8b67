#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>

#include "base/hash.h"

namespace fathom {

// Keeps a table from growing faster than its input: an op's name and arguments stand in the row of
// each of its kernels, and may be megabytes. A long text may be repeated as long as all repeats
// together stay within a multiple of the texts themselves; after that it is to be shortened.
class RepeatBudget {
 public:
  static constexpr size_t kShortenedBytes = 256;

  // Whether the text with this number may stand in full once more.
  bool allows(uint64_t text, size_t bytes) {
    constexpr size_t kLong = 1024, kTimes = 32, kFree = 1 << 18;
    if (bytes <= kLong) return true;
    if (seen_.insert(text).second) {
      known_ += bytes;
      return true;
    }
    repeated_ += bytes;
    return repeated_ <= kTimes * known_ + kFree;
  }

 private:
  std::unordered_set<uint64_t, TableHash> seen_;
  size_t known_ = 0, repeated_ = 0;
};

}  // namespace fathom
