#pragma once

#include <map>
#include <string>
#include <string_view>

#include "story/phrase.h"

namespace fathom {

// The library objects that a body names, and what calls of them do: CUB's block and warp
// collectives, cooperative groups (data/stories/collectives.tsv).
class Collectives {
 public:
  // `using Reduce = cub::BlockReduce<float, 128>`, `typedef … Reduce`, `Reduce reduce(storage)`,
  // `auto tile = cg::tiled_partition<32>(block)`.
  void note(std::string_view statement);
  // What a statement's call of one of them does; kNone: it calls none.
  Phrase phrase_of(std::string_view statement) const;

 private:
  // The class behind a name or a spelled type; empty: none of the table.
  std::string_view type_of(std::string_view spelled) const;

  std::map<std::string, std::string_view, std::less<>> types_;  // by alias or object
};

}  // namespace fathom
