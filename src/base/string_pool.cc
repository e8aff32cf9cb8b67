#include "base/string_pool.h"

#include <algorithm>
#include <cstring>

namespace fathom {

StringId StringPool::intern(std::string_view text) {
  if (auto found = ids_.find(text); found != ids_.end()) return found->second;
  const StringId id(texts_.size());
  texts_.push_back(store(text));
  ids_.emplace(texts_.back(), id);
  return id;
}

StringId StringPool::find(std::string_view text) const {
  auto found = ids_.find(text);
  return found == ids_.end() ? StringId{} : found->second;
}

std::string_view StringPool::store(std::string_view text) {
  if (block_used_ + text.size() > block_size_) {
    // Grows with the pool: the many small pools of parsed chunks stay small.
    block_size_ = std::max({text.size(), size_t{4096}, std::min(block_size_ * 2, size_t{1} << 20)});
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(block_size_));
    block_used_ = 0;
  }
  char* at = blocks_.back().get() + block_used_;
  std::memcpy(at, text.data(), text.size());
  block_used_ += text.size();
  return {at, text.size()};
}

}  // namespace fathom
