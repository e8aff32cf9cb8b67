#pragma once

#include "analyze/ranks/match_collectives.h"

namespace fathom {

enum class ClockRefusal : uint8_t {
  kFits,
  kNothingShared,  // no synchronizing collective with a rank that is aligned
  kTooFew,         // fewer than three
  kDrift,          // the clocks would drift apart by more than any clock does
  kResiduals,      // ends differ by more than the collectives take
  kContradiction,  // collectives would end on one rank before they begin on another
};
// For programs: "too_few_collectives".
std::string_view clock_refusal_name(ClockRefusal refusal);

// One rank's clock beside that of the reference.
struct RankClock {
  ClockRefusal refusal = ClockRefusal::kNothingShared;
  bool is_reference = false;
  // Ahead of the reference, in the middle of what they share. None where only one of the two traces
  // says what its times count from, as one that is cut off before its end does not.
  std::optional<Nanos> offset;
  double drift = 0;                     // further ahead, seconds for each second
  std::optional<double> drift_error;    // within so much of it, 95 %; none: too few for a drift
  size_t collectives = 0;               // that it was fitted by
  Nanos residual, residual_p90, worst;  // of their ends: median, 90 %, largest

  bool aligned() const { return refusal == ClockRefusal::kFits; }
  // A time of this rank on the reference's clock.
  Nanos to_common(Nanos own) const;

  Nanos own_origin, common_origin;
  double scale = 1;
};

struct ClockAlignment {
  std::vector<RankClock> ranks;
  uint32_t reference = 0;
  // Matched collectives that contradict the clocks although nearly all others fit: of another run,
  // or matched wrongly. By place in CollectiveMatches::all.
  std::vector<bool> contradicts;
  size_t contradictions = 0;
  bool by_unknown_kind = false;  // no collective is of a kind that is known to synchronize

  bool all_aligned() const;
};

// Clocks by collectives: one that synchronizes ends on all its ranks at nearly the same time.
// Offset and drift are a robust line through the differences of the ends.
ClockAlignment align_clocks(std::span<const RankFacts> ranks, const CollectiveMatches& matches);

}  // namespace fathom
