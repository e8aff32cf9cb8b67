#include "base/hash.h"

#include <sys/auxv.h>

namespace fathom {

const HashKeys& table_keys() {
  static const HashKeys keys = [] {
    HashKeys made;
    // 16 random bytes that the kernel gives each process. They also guard its stack, so they are
    // mixed before use.
    const auto* bytes = reinterpret_cast<const char*>(getauxval(AT_RANDOM));
    if (bytes != nullptr) {
      std::memcpy(&made.first, bytes, sizeof made.first);
      std::memcpy(&made.second, bytes + sizeof made.first, sizeof made.second);
    }
    const uint64_t both = mix_bits(made.first, made.second);
    return HashKeys{mix_bits(both, made.first), mix_bits(made.second, ~both)};
  }();
  return keys;
}

}  // namespace fathom
