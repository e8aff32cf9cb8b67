#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace fathom {

// XXH64 over a file's content, fed in pieces of any size. Each step is one-to-one in the state and
// in the word it takes, so two contents that differ in one word never meet before the last mixing;
// a product of state and content would lose everything before a word that makes it zero.
// Tells accidents and edits, not forgeries: whoever can compute it can make content for it.
class ContentHash {
 public:
  void add(std::string_view bytes);
  void add(std::span<const std::byte> bytes) {
    add({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  uint64_t value() const;
  uint64_t size() const { return size_; }

 private:
  static constexpr size_t kStripe = 32;

  uint64_t lanes_[4] = {0x60ea27eeadc0b5d6, 0xc2b2ae3d27d4eb4f, 0, 0x61c8864e7a143579};
  uint64_t size_ = 0;
  char rest_[kStripe] = {};  // what fills no stripe yet: size_ % kStripe bytes
};

inline uint64_t hash_content(std::string_view bytes) {
  ContentHash hash;
  hash.add(bytes);
  return hash.value();
}

}  // namespace fathom
