#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/strong_id.h"

namespace fathom {

using StringId = StrongId<struct StringTag>;

// Each distinct text once, numbered in the order of first sight. Views stay valid for the pool's
// life: the bytes live in blocks that never move.
class StringPool {
 public:
  StringId intern(std::string_view text);
  std::string_view text(StringId id) const { return texts_[id.index]; }
  // Not found: an invalid id.
  StringId find(std::string_view text) const;
  size_t size() const { return texts_.size(); }

 private:
  std::string_view store(std::string_view text);

  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t block_used_ = 0;
  size_t block_size_ = 0;
  std::vector<std::string_view> texts_;
  std::unordered_map<std::string_view, StringId> ids_;
};

}  // namespace fathom
