#pragma once

#include <cstdint>

namespace fathom {

// How sure a join is.
enum class JoinQuality : uint8_t {
  kNone,       // nothing fits the kernel
  kAmbiguous,  // several things do, and its key does not tell them apart
  kByKey,      // one does
  kExact,      // one does for each run, in their order
};

}  // namespace fathom
