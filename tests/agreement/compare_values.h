#pragma once

#include <string>
#include <vector>

#include "python_literal.h"

namespace fathom::agreement {

struct ValueMismatch {
  std::string path;  // e.g. [0].name
  std::string ours;
  std::string theirs;
  std::string why;
};

// Times inside (keys ending in _us) come from the trace's `dur`, which both tools read exactly, so
// they must be the same number of nanoseconds; other numbers must be equal but for the last printed
// digits.
std::vector<ValueMismatch> compare_values(const Value& ours, const Value& theirs);

// trunc_kernel_details: names are cut ("..." in theirs, "…" in ours) and the mean is rounded to two
// decimals. A mean that lies on a tie may be rounded either way, so ours is held against their
// unrounded mean, which `theirs_in_full` (the kernel_details cell of the same row) has.
std::vector<ValueMismatch> compare_cut_details(const Value& ours, const Value& theirs,
                                               const Value& theirs_in_full);

}  // namespace fathom::agreement
