#pragma once

#include "analyze/ranks/rank_path.h"
#include "analyze/ranks/rank_patterns.h"
#include "base/table.h"
#include "platform/platform.h"

namespace fathom {

// Why a trace is not part of the comparison.
enum class RankRefusal : uint8_t {
  kRepeated,  // the rank was given before
  kOtherJob,  // of another world size, or recorded at another time
  kNoRank,    // it has neither a rank nor a world size, which the others have
};
struct RefusedRank {
  std::string trace;
  std::optional<int64_t> rank, world_size;
  RankRefusal why = RankRefusal::kRepeated;
  std::string instead;  // the trace that is
};

// A rank's time, and its part in collectives.
struct RankRow {
  size_t collectives = 0;                                // matched
  Nanos time, waiting, exposed_waiting, transfer, rest;  // time = waiting + transfer + rest
  size_t first = 0, last = 0;                            // to begin
  size_t missing = 0;  // collectives of its groups that others have and it has not
};

// Collectives of one group, kind, type and size.
struct CollectiveRow {
  uint32_t group = 0;
  std::string name, dtype;
  CollectiveKind kind = CollectiveKind::kOther;
  std::optional<double> bytes;
  size_t count = 0, ranks = 0;
  Nanos transfer, least_transfer, most_transfer, skew, most_skew, waiting;  // sums, and of one
  std::optional<double> algorithm_rate, bus_rate;  // bytes per second, over all of them
  std::optional<double> of_link;                   // of the link's bandwidth; 1 is all
  uint32_t mostly_last = 0;
  size_t last_count = 0;
};

// A step by its number, over the ranks that have it.
struct StepRow {
  int64_t number = 0;
  size_t ranks = 0;
  Nanos longest, shortest;  // its length on a rank
  uint32_t longest_rank = 0;
  Nanos lateness;                // of the last ranks in its collectives, sum
  std::optional<uint32_t> late;  // the rank with most of it
  Nanos late_by;                 // that rank's
};

enum class RankVerdict : uint8_t {
  kNoCollectives,  // none in common
  kEven,           // hardly any waiting
  kStraggler,      // one rank is late
  kTogether,       // several are late at the same time
  kMoving,         // others at other times
};
std::string_view rank_verdict_name(RankVerdict verdict);  // for programs: "straggler"

// Several ranks of one job, side by side.
struct RankComparison {
  std::vector<RankFacts> ranks;  // by number
  std::vector<RefusedRank> refused;
  std::optional<int64_t> world_size;
  std::vector<int64_t> missing;  // ranks of the world without a trace; the first hundred
  size_t missing_count = 0;
  Nanos recorded_apart;        // by the ranks' clocks, over ten minutes; 0: they agree with most
  size_t beyond_world = 0;     // ranks with a number that the world size does not allow
  const Link* link = nullptr;  // that groups within one machine use; null: not known

  CollectiveMatches matches;
  ClockAlignment clocks;
  std::vector<CollectiveWait> waits;
  std::vector<LateRank> late;              // by rank
  std::vector<RankRow> rows;               // by rank
  std::vector<CollectiveRow> collectives;  // by transfer and skew, the most first
  std::vector<StepRow> steps;
  RankPath path;
  std::optional<PipelineStages> pipeline;
  std::optional<ExpertBalance> experts;

  RankVerdict verdict = RankVerdict::kNoCollectives;
  uint32_t straggler = 0;            // with kStraggler; else the one with the largest share
  std::vector<uint32_t> late_ranks;  // the straggler, or those that are late together
  double straggler_share = 0;        // of all lateness
  std::optional<int64_t> since;      // the step from which on the late ranks are
  Nanos lateness;                    // sum over collectives
  Nanos wall;                        // mean over ranks
  bool unequal_lengths = false;      // of the traces: times of ranks are then not comparable
  double computation_balance = 1;    // mean over largest; 1 is even; of shares with unequal lengths
  uint32_t most_computing = 0;

  // The GPUs of the ranks, each name once with its number of ranks, the most first.
  std::vector<std::pair<std::string, size_t>> gpus() const;
  std::string rank_name(uint32_t place) const;  // "rank 3", or the trace where it has no number
};

// Ranks in any order. `platform`: of their GPUs; null: not known.
RankComparison compare_ranks(std::vector<RankFacts> ranks, const Platform* platform);

// ranks, collectives, collective_summary, late_ranks, steps and path.
std::vector<Table> rank_sheets(const RankComparison& comparison);

}  // namespace fathom
