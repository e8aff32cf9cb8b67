#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/byte_source.h"

namespace fathom {

// Bytes that lie in memory, which must outlive it.
class TextSource : public ByteSource {
 public:
  explicit TextSource(std::string_view text) : rest_(text) {}
  Result<size_t> read(std::span<char> into) override {
    const size_t n = std::min(into.size(), rest_.size());
    if (n > 0) std::memcpy(into.data(), rest_.data(), n);
    rest_.remove_prefix(n);
    return n;
  }

 private:
  std::string_view rest_;
};

}  // namespace fathom
