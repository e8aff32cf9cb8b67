#pragma once

#include "analyze/diff/diff.h"
#include "analyze/diff/path_groups.h"

namespace fathom {

// Groups of A and groups of B that are taken for the same op; each group is in one match.
struct OpMatch {
  MatchedBy by = MatchedBy::kNothing;
  std::vector<size_t> a, b;
};

// First those alike in call path, name and arguments; of what is left, those alike in name and
// arguments, wherever they are called from; then those alike in name and call path. Where as many
// are left in A as in B they are paired in order; otherwise they make one match together, since
// nothing tells which is which.
std::vector<OpMatch> match_ops(const std::vector<PathGroup>& a, const std::vector<PathGroup>& b);

}  // namespace fathom
