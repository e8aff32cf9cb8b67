#include "prefix.h"

#include "prefix_paths.h"

namespace fathom::radix {

namespace {

FirstDifference choose() {
  for (const PrefixPath path : {PrefixPath::kAvx512, PrefixPath::kAvx2}) {
    if (supports(path)) return first_difference(path);
  }
  return first_difference_portable;
}

}  // namespace

bool supports(PrefixPath path) {
#if defined(__x86_64__)
  // These also ask whether the system saves the wide registers.
  if (path == PrefixPath::kAvx2) return __builtin_cpu_supports("avx2") != 0;
  if (path == PrefixPath::kAvx512) {
    return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
           __builtin_cpu_supports("bmi") != 0;
  }
#endif
  return path == PrefixPath::kPortable;
}

const char* name_of(PrefixPath path) {
  if (path == PrefixPath::kAvx512) return "AVX-512";
  return path == PrefixPath::kAvx2 ? "AVX2" : "portable";
}

FirstDifference first_difference(PrefixPath path) {
#if defined(__x86_64__)
  if (path == PrefixPath::kAvx2) return first_difference_avx2;
  if (path == PrefixPath::kAvx512) return first_difference_avx512;
#endif
  (void)path;
  return first_difference_portable;
}

size_t first_difference(const void* a, const void* b, size_t bytes) {
  static const FirstDifference chosen = choose();
  return chosen(a, b, bytes);
}

}  // namespace fathom::radix
