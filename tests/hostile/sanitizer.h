#pragma once

namespace fathom::test {

// A sanitizer's own memory hides the program's, and needs more address space than any limit here
// allows.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kMemoryIsOurs = false;
#else
inline constexpr bool kMemoryIsOurs = true;
#endif

}  // namespace fathom::test
