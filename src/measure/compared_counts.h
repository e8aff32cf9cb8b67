#pragma once

#include <cstddef>

namespace fathom {

// How many quantities of kernels are as expected (story/expected_measured.h).
struct ComparedCounts {
  size_t within = 0, surprises = 0, not_comparable = 0, not_measured = 0;
  size_t compared() const { return within + surprises; }
};

}  // namespace fathom
