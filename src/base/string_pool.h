#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/strong_id.h"

namespace fathom {

using StringId = StrongId<struct StringTag>;

// Each distinct text once, numbered in the order of first sight. Views stay valid for the pool's
// life: the bytes live in blocks that never move.
class StringPool {
 public:
  StringId intern(std::string_view text);
  std::string_view text(StringId id) const { return texts_[id.index]; }
  size_t size() const { return texts_.size(); }

 private:
  struct Slot {
    uint32_t hash = 0;  // its high bits: a look at the text is saved when they differ
    StringId id;
  };

  std::string_view store(std::string_view text);
  void grow();

  HashKeys keys_ = table_keys();
  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t block_used_ = 0;
  size_t block_size_ = 0;
  std::vector<std::string_view> texts_;
  std::vector<Slot> slots_;  // open addressing, a power of two, at most half full
};

}  // namespace fathom
