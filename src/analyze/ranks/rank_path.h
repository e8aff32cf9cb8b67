#pragma once

#include "analyze/ranks/waits.h"

namespace fathom {

// A stretch of the path: work of one rank, or the transfer of a collective.
struct RankPathSegment {
  uint32_t rank = 0;
  Nanos begin, end;           // on the common clock
  uint32_t wait = kNoNumber;  // the collective whose transfer it is, of the waits; else work
};

// What the end of the run waited for, back to its begin: the work of a rank up to a collective,
// then the rank that came last to it. A collective under computation holds nothing up and is left
// out.
struct RankPath {
  std::string_view missing;  // for programs: "clocks", "collectives"; empty: there is a path
  std::vector<RankPathSegment> segments;  // in the order of time
  Nanos length, transfer;
  RankParts parts = {};        // of the ranks' own work; with transfer they add up to the length
  std::vector<Nanos> by_rank;  // the work
  size_t switches = 0;         // from one rank to another
};

RankPath find_rank_path(std::span<const RankFacts> ranks, const CollectiveMatches& matches,
                        const ClockAlignment& clocks, std::span<const CollectiveWait> waits);

}  // namespace fathom
