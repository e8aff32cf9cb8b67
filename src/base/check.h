#pragma once

#include <cstdio>
#include <cstdlib>

// For our own bugs only: a broken invariant stops the program where it broke. Input is never
// CHECKed.
#define CHECK(condition)                                                                 \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      std::fprintf(stderr, "fathom bug: %s at %s:%d\n", #condition, __FILE__, __LINE__); \
      std::abort();                                                                      \
    }                                                                                    \
  } while (false)
