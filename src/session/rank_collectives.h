#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/table.h"
#include "session/trace.h"

namespace fathom {

// The collectives of one rank's trace, kept small: traces of many ranks are read one after the
// other.
struct RankCollectives {
  struct Run {
    std::string group, name;
    int64_t number = 0;  // in its group, by the trace's own sequence or by order
    Nanos start, duration;
    std::optional<double> bus_bytes;
  };
  std::string trace;
  std::optional<int64_t> rank;
  std::vector<Run> runs;
};
RankCollectives collect_collectives(const Trace& trace);

// A trace of a rank that another one is of as well, which counts instead.
struct RepeatedRank {
  std::string trace, counted;
  std::optional<int64_t> rank;
  bool is_same_recording = false;  // else the same rank, recorded at another time
};
// Leaves the first trace of each rank. Without rank numbers, equal collectives tell.
std::vector<RepeatedRank> leave_out_repeats(std::vector<RankCollectives>& ranks);

// Transfer apart from waiting: a collective ends on all ranks together, so the rank that begins
// last waits least, and its duration is the transfer's.
struct RankWaits {
  struct Rank {
    std::optional<int64_t> rank;
    std::string trace;
    Nanos time, waiting;  // in collectives that all ranks have; of it, for others
    size_t last = 0;      // collectives that it was the last to begin
  };
  std::vector<Rank> ranks;
  size_t collectives = 0;          // that all ranks have
  size_t unmatched = 0;            // that not all of them have
  Nanos transfer;                  // of those, once
  std::optional<double> bus_rate;  // bytes per second while transferring
};
// Nothing where fewer than two ranks share a collective.
std::optional<RankWaits> compare_ranks(std::span<const RankCollectives> ranks);

// The same in full: a row for each rank, and one for each collective of each rank.
std::vector<Table> rank_sheets(std::span<const RankCollectives> ranks, const RankWaits& waits);

// A few lines for the screen.
std::vector<std::string> rank_waits_lines(const RankWaits& waits);
std::string repeated_rank_line(const RepeatedRank& repeat);

}  // namespace fathom
