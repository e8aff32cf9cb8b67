#include "analyze/ranks/rank_path.h"

#include <algorithm>

namespace fathom {
namespace {

constexpr double kHoldsUp = 0.1;  // of its duration, without computation beside it

// A collective of one rank that is matched, by its end.
struct Gate {
  Nanos end;
  uint32_t wait = 0, collective = 0;
};

bool holds_up(const RankCollective& c) {
  const Nanos computed = c.until_end[part_index(RankPart::kComputation)] -
                         c.until_start[part_index(RankPart::kComputation)];
  return static_cast<double>((c.duration() - computed).count) >=
         kHoldsUp * static_cast<double>(c.duration().count);
}

}  // namespace

RankPath find_rank_path(std::span<const RankFacts> ranks, const CollectiveMatches& matches,
                        const ClockAlignment& clocks, std::span<const CollectiveWait> waits) {
  RankPath path;
  if (waits.empty()) {
    path.missing = "collectives";
    return path;
  }
  std::vector<std::vector<Gate>> gates(ranks.size());
  std::optional<uint32_t> rank;
  Nanos time{INT64_MIN};
  for (uint32_t r = 0; r < ranks.size(); ++r) {
    if (!clocks.ranks[r].aligned()) {
      path.missing = "clocks";
      return path;
    }
    const Nanos end = clocks.ranks[r].to_common(ranks[r].end);
    if (end > time) {
      time = end;
      rank = r;
    }
  }
  for (uint32_t w = 0; w < waits.size(); ++w) {
    for (const MatchedMember& m : matches.members_of(matches.all[waits[w].matched])) {
      const RankCollective& c = ranks[m.rank].collectives[m.collective];
      if (holds_up(c)) gates[m.rank].push_back({c.end, w, m.collective});
    }
  }
  for (std::vector<Gate>& list : gates) std::ranges::stable_sort(list, {}, &Gate::end);

  path.by_rank.resize(ranks.size());
  uint32_t at = *rank;
  Nanos own = ranks[at].end;  // on that rank's clock
  RankParts until = ranks[at].parts;
  const Nanos finish = time;
  const auto add_work = [&](Nanos from, const RankParts& since) {
    const Nanos begin = clocks.ranks[at].to_common(from);
    if (begin < time) {
      path.segments.push_back({at, begin, time, kNoNumber});
      path.by_rank[at] += time - begin;
      const RankParts parts = parts_between(since, until);
      for (size_t p = 0; p < kRankParts; ++p) path.parts[p] += parts[p];
    }
    time = std::min(time, begin);
  };
  while (true) {
    std::vector<Gate>& list = gates[at];
    while (!list.empty() && list.back().end > own) list.pop_back();
    if (list.empty()) break;
    const Gate gate = list.back();
    list.pop_back();
    const CollectiveWait& wait = waits[gate.wait];
    const auto members = matches.members_of(matches.all[wait.matched]);
    const MatchedMember last = *std::ranges::find(members, wait.last, &MatchedMember::rank);
    const RankCollective& arrival = ranks[last.rank].collectives[last.collective];
    const Nanos began = clocks.ranks[last.rank].to_common(arrival.start);
    if (began >= time) continue;  // within what the clocks tell
    add_work(gate.end, ranks[at].collectives[gate.collective].until_end);
    if (began < time) {
      path.segments.push_back({last.rank, began, time, gate.wait});
      path.transfer += time - began;
      time = began;
    }
    if (last.rank != at) ++path.switches;
    at = last.rank;
    own = arrival.start;
    until = arrival.until_start;
  }
  add_work(ranks[at].begin, RankParts{});
  std::ranges::reverse(path.segments);
  path.length = finish - time;
  // Clocks are not exact to the nanosecond: what is over belongs to no part.
  path.parts[part_index(IdleCause::kOther)] += path.length - path.transfer - total_of(path.parts);
  return path;
}

}  // namespace fathom
