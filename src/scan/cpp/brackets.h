#pragma once

#include <cstdint>
#include <vector>

#include "scan/cpp/tokens.h"

namespace fathom::cpp {

// Which brackets of a source belong together, found in one pass whatever the source is. Every
// branch of an #if starts from the brackets that were open at the #if, so that a header written
// twice, once per branch, does not open two bodies. A `<` counts as a bracket where its `>` comes
// before anything that template arguments cannot hold.
class Brackets {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  explicit Brackets(const TokenList& source);

  // The other half of the bracket at `i`; kNone: it has none, or is no bracket. The partner of
  // `<<<` is the first > of its >>>.
  uint32_t partner(size_t i) const { return partner_[i]; }
  bool closed(size_t i) const { return i < partner_.size() && partner_[i] != kNone; }
  // The innermost { around a token; kNone: there is none.
  uint32_t enclosing(size_t i) const { return enclosing_[i]; }
  // Whether what is declared at `i` can be seen at `later`: the block around it is still open.
  bool visible(size_t i, size_t later) const;

 private:
  friend class BracketMatcher;
  std::vector<uint32_t> partner_, enclosing_;
};

}  // namespace fathom::cpp
