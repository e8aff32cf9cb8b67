#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scan/facts/code_facts.h"
#include "story/expected_launch.h"

namespace fathom {

// What a kernel moves by its own accesses, as formulas of its own names. An array counts once
// however often it is read: what is read again is expected in the caches.
struct AccessModel {
  std::string bytes_read, bytes_written;
  std::string flops;  // empty: not counted
  std::vector<std::string> arrays;
};

// None where the kernel's accesses are not seen, or the extent of an array is not known; `why` then
// says which.
std::optional<AccessModel> model_of_accesses(const KernelFacts& kernel, std::string& why);

// The size of the numbers that the code itself says; none: it does not, or in several sizes.
struct CodeType {
  std::string type;
  uint32_t bytes = 0;
  CodePlace at;
};
std::optional<CodeType> type_in_code(const KernelFacts& kernel);

// What the accesses ask of the load-store units, shared and global together.
struct LoadStoreWork {
  double bytes = 0;           // asked for by all threads
  double wavefronts_low = 0;  // 128-byte steps of the units
  double wavefronts_high = 0;
  double shared_wavefronts = 0;  // of those at most, the part of shared memory
  double global_bytes = 0;       // of `bytes`, to global memory
  double wasted = 1;             // bytes of the sectors touched over bytes asked for, at most
  int most_conflicts = 1;        // ways of the worst bank conflict
  const ArrayAccess* conflict = nullptr;
};
// None where the number of some access is not known.
std::optional<LoadStoreWork> load_store_work(const KernelFacts& kernel, const KernelValues& values);

// How a warp's threads meet in one access; none: not known.
struct WarpAccess {
  double sectors = 0;     // of 32 bytes, in global memory
  double lines = 0;       // of 128 bytes
  double wavefronts = 0;  // of shared memory
};
std::optional<WarpAccess> warp_access(const ArrayAccess& access, const KernelValues& values);

}  // namespace fathom
