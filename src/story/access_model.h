#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scan/facts/code_facts.h"
#include "story/expected_launch.h"
#include "story/kernel_model.h"

namespace fathom {

// What a kernel moves by its own accesses, as formulas of its own names. An array counts once
// however often it is read: what is read again is expected in the caches.
struct AccessModel {
  std::string bytes_read, bytes_written;
  std::string flops;  // empty: not counted
  std::vector<std::string> arrays;
  std::vector<OpenEnd> open_ends;  // empty: all accesses are counted
};

// None where no access of the kernel is counted; `why` then says what is missing.
std::optional<AccessModel> model_of_accesses(const KernelFacts& kernel, std::string& why);

// The bytes of the accesses of one kind: at least those that no test decides, or a test that is
// known to hold; at most all but those whose test is known to fail.
struct AccessedBytes {
  double low = 0, high = 0;
  std::vector<std::string> flags;  // tests that a parameter would decide
};
// None where a name of the formulas has no number.
std::optional<AccessedBytes> accessed_bytes(const KernelFacts& kernel, AccessKind kind,
                                            const KernelValues& values);

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
  double bytes_low = 0;       // the same without accesses that a test decides
  double wavefronts_low = 0;  // 128-byte steps of the units
  double wavefronts_high = 0;
  double shared_wavefronts = 0;  // of those at most, the part of shared memory
  double global_bytes = 0;       // of `bytes`, to global memory
  double wasted = 1;             // bytes of the sectors touched over bytes asked for, at most
  double scattered = 1;    // the same of accesses outside of loops, which no round reads again
  int most_conflicts = 1;  // ways of the worst bank conflict
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
