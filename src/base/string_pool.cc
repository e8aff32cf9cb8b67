#include "base/string_pool.h"

#include <algorithm>
#include <cstring>

namespace fathom {

StringId StringPool::intern(std::string_view text) {
  if (texts_.size() * 2 >= slots_.size()) grow();
  const uint64_t hash = hash_text(text, keys_);
  const auto high = static_cast<uint32_t>(hash >> 32);
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  for (; slots_[slot].id.valid(); slot = (slot + 1) & mask) {
    if (slots_[slot].hash == high && texts_[slots_[slot].id.index] == text) return slots_[slot].id;
  }
  const StringId id(texts_.size());
  texts_.push_back(store(text));
  slots_[slot] = {high, id};
  return id;
}

void StringPool::grow() {
  std::vector<Slot> larger(std::max<size_t>(64, slots_.size() * 2));
  const size_t mask = larger.size() - 1;
  for (size_t i = 0; i < texts_.size(); ++i) {
    const uint64_t hash = hash_text(texts_[i], keys_);
    size_t slot = hash & mask;
    while (larger[slot].id.valid()) slot = (slot + 1) & mask;
    larger[slot] = {static_cast<uint32_t>(hash >> 32), StringId(i)};
  }
  slots_ = std::move(larger);
}

std::string_view StringPool::store(std::string_view text) {
  if (text.empty()) return {};
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
