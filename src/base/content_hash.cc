#include "base/content_hash.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace fathom {
namespace {

constexpr uint64_t kPrime1 = 0x9e3779b185ebca87, kPrime2 = 0xc2b2ae3d27d4eb4f,
                   kPrime3 = 0x165667b19e3779f9, kPrime4 = 0x85ebca77c2b2ae63,
                   kPrime5 = 0x27d4eb2f165667c5;

template <typename T>
uint64_t load(const char* from) {
  T word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

uint64_t step(uint64_t lane, uint64_t word) {
  return std::rotl(lane + word * kPrime2, 31) * kPrime1;
}

// Local copies: the compiler keeps them in registers.
const char* take_stripes(uint64_t (&lanes)[4], const char* at, size_t stripes) {
  uint64_t a = lanes[0], b = lanes[1], c = lanes[2], d = lanes[3];
  for (; stripes > 0; --stripes, at += 32) {
    a = step(a, load<uint64_t>(at));
    b = step(b, load<uint64_t>(at + 8));
    c = step(c, load<uint64_t>(at + 16));
    d = step(d, load<uint64_t>(at + 24));
  }
  lanes[0] = a, lanes[1] = b, lanes[2] = c, lanes[3] = d;
  return at;
}

}  // namespace

void ContentHash::add(std::string_view bytes) {
  const size_t held = size_ % kStripe;
  size_ += bytes.size();
  if (held > 0) {
    const size_t n = std::min(bytes.size(), kStripe - held);
    std::copy_n(bytes.data(), n, rest_ + held);
    bytes.remove_prefix(n);
    if (held + n < kStripe) return;
    take_stripes(lanes_, rest_, 1);
  }
  const char* end = take_stripes(lanes_, bytes.data(), bytes.size() / kStripe);
  std::copy_n(end, bytes.size() % kStripe, rest_);
}

uint64_t ContentHash::value() const {
  uint64_t hash = kPrime5;
  if (size_ >= kStripe) {
    hash = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) +
           std::rotl(lanes_[3], 18);
    for (uint64_t lane : lanes_) hash = (hash ^ step(0, lane)) * kPrime1 + kPrime4;
  }
  hash += size_;
  const char* at = rest_;
  size_t left = size_ % kStripe;
  for (; left >= 8; left -= 8, at += 8) {
    hash = std::rotl(hash ^ step(0, load<uint64_t>(at)), 27) * kPrime1 + kPrime4;
  }
  if (left >= 4) {
    hash = std::rotl(hash ^ (load<uint32_t>(at) * kPrime1), 23) * kPrime2 + kPrime3;
    left -= 4;
    at += 4;
  }
  for (; left > 0; --left, ++at) {
    hash = std::rotl(hash ^ (load<uint8_t>(at) * kPrime5), 11) * kPrime1;
  }
  hash = (hash ^ (hash >> 33)) * kPrime2;
  hash = (hash ^ (hash >> 29)) * kPrime3;
  return hash ^ (hash >> 32);
}

}  // namespace fathom
