#pragma once

#include <optional>
#include <vector>

#include "base/units.h"

namespace fathom {

// Which of many spans is open at a time: the one begun last. They may nest and overlap in any way;
// a look costs a binary search.
class LatestOpen {
 public:
  struct Span {
    Nanos begin, end;
    size_t value;
  };

  LatestOpen() = default;
  // Of spans that begin together the one of the larger value counts as begun later.
  explicit LatestOpen(std::vector<Span> spans);

  // The span's value; nothing where none is open.
  std::optional<size_t> at(Nanos time) const;

 private:
  struct Piece {
    Nanos begin;  // up to the next one's
    std::optional<size_t> value;
  };
  std::vector<Piece> pieces_;
};

}  // namespace fathom
