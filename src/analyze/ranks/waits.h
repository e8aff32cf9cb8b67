#pragma once

#include "analyze/ranks/align_clocks.h"

namespace fathom {

// Of an even number the middle of the two; 0 of none.
Nanos median_time(std::vector<Nanos> times);

// A matched collective with waiting apart from transfer. A rank's time in it is its wait, the
// transfer, and the rest: how much later than others it ended.
struct CollectiveWait {
  uint32_t matched = 0;          // of CollectiveMatches::all
  bool by_clocks = true;         // else by durations: the rank that takes least came last
  uint32_t first = 0, last = 0;  // ranks, by place
  Nanos skew;                    // between the first to begin and the last
  Nanos late_by;                 // the last after the middle one of the others
  Nanos transfer;                // of the rank that takes least
  Nanos waiting;                 // over all its ranks
  Nanos end_skew;                // between the first to end and the last; 0 without clocks
  Nanos begin, end;              // on the common clock; the last rank's own without clocks
  std::optional<double> bytes, bus_bytes;

  std::optional<double> algorithm_rate() const;  // bytes per second
  std::optional<double> bus_rate() const;
};

// How long each member waited, in the order of the members.
std::vector<Nanos> member_waits(std::span<const RankFacts> ranks, const CollectiveMatches& matches,
                                const ClockAlignment& clocks, const CollectiveWait& wait);

// In the order of the matches, without those that contradict the clocks.
std::vector<CollectiveWait> measure_waits(std::span<const RankFacts> ranks,
                                          const CollectiveMatches& matches,
                                          const ClockAlignment& clocks);

// More of something on the late rank than on the middle one of the others.
struct LateWork {
  std::string name, place;              // place may be empty
  IdleCause cause = IdleCause::kOther;  // of idle time
  Nanos excess, own, others;
  uint64_t own_count = 0, other_count = 0;
};

enum class LateReason : uint8_t {
  kUnknown,        // nothing to compare with: the first collective of its group
  kSlowerKernels,  // the same kernels take longer
  kMoreWork,       // more kernels
  kCommunication,  // it came late out of another collective
  kCopies,
  kIdle,  // its GPU had nothing to do
};
// For programs: "slower_kernels".
std::string_view late_reason_name(LateReason reason);

// Why a rank was the last to begin, over the collectives in which it was.
struct LateRank {
  uint32_t rank = 0;
  size_t collectives = 0;       // that it was the last to begin
  size_t explained = 0;         // of these, with a common collective before
  Nanos late_by, explained_by;  // sums
  Nanos caused;                 // waiting of the others
  RankParts excess = {};        // its time since the collective before, more than the others'
  LateReason reason = LateReason::kUnknown;
  size_t part = 0;             // the largest of excess
  std::vector<LateWork> ops;   // by excess, a few
  std::vector<LateWork> idle;  // likewise
};

// One for each rank, in the order of the ranks.
std::vector<LateRank> explain_lateness(std::span<const RankFacts> ranks,
                                       const CollectiveMatches& matches,
                                       const ClockAlignment& clocks,
                                       std::span<const CollectiveWait> waits);

}  // namespace fathom
