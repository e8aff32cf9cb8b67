// Why a rank came late: what it did since the collective that it had in common with the others,
// next to what they did in the same time.
#include <algorithm>
#include <map>

#include "analyze/ranks/waits.h"

namespace fathom {
namespace {

constexpr size_t kWorkKept = 5;
constexpr double kMoreKernels = 1.02;  // as many as the others, up to a stray one

using WorkKey = std::tuple<std::string, std::string, IdleCause>;

class Explanation {
 public:
  Explanation(std::span<const RankFacts> ranks, const CollectiveMatches& matches,
              const ClockAlignment& clocks, std::span<const CollectiveWait> waits)
      : ranks_(ranks), matches_(matches), waits_(waits) {
    matched_of_.resize(ranks.size());
    for (size_t r = 0; r < ranks.size(); ++r)
      matched_of_[r].assign(ranks[r].collectives.size(), kNoNumber);
    for (uint32_t i = 0; i < matches.all.size(); ++i) {
      if (clocks.contradicts[i]) continue;
      for (const MatchedMember& m : matches.members_of(matches.all[i]))
        matched_of_[m.rank][m.collective] = i;
    }
    out_.resize(ranks.size());
    ops_.resize(ranks.size());
    idle_.resize(ranks.size());
    for (uint32_t r = 0; r < ranks.size(); ++r) out_[r].rank = r;
  }

  std::vector<LateRank> take() {
    for (const CollectiveWait& wait : waits_) {
      LateRank& late = out_[wait.last];
      ++late.collectives;
      late.late_by += wait.late_by;
      late.caused += wait.waiting;
      if (has_common_begin(wait)) explain(wait, late);
    }
    for (LateRank& late : out_) conclude(late);
    return std::move(out_);
  }

 private:
  const RankCollective& run(const MatchedMember& m) const {
    return ranks_[m.rank].collectives[m.collective];
  }

  // All of its members were in the same collective before.
  bool has_common_begin(const CollectiveWait& wait) const {
    uint32_t before = kNoNumber;
    for (const MatchedMember& m : matches_.members_of(matches_.all[wait.matched])) {
      const uint32_t previous = run(m).previous;
      if (previous == kNoNumber) return false;
      const uint32_t matched = matched_of_[m.rank][previous];
      if (matched == kNoNumber || (before != kNoNumber && matched != before)) return false;
      before = matched;
    }
    return true;
  }

  RankParts parts_before(const MatchedMember& m) const {
    const RankCollective& c = run(m);
    return parts_between(ranks_[m.rank].collectives[c.previous].until_end, c.until_start);
  }

  void explain(const CollectiveWait& wait, LateRank& late) {
    const auto members = matches_.members_of(matches_.all[wait.matched]);
    ++late.explained;
    late.explained_by += wait.late_by;
    std::vector<RankParts> others;
    const MatchedMember* own = nullptr;
    for (const MatchedMember& m : members) {
      if (m.rank == wait.last) {
        own = &m;
      } else {
        others.push_back(parts_before(m));
      }
    }
    const RankParts mine = parts_before(*own);
    std::vector<Nanos> column;
    for (size_t p = 0; p < kRankParts; ++p) {
      column.clear();
      for (const RankParts& parts : others) column.push_back(parts[p]);
      late.excess[p] += mine[p] - median_time(column);
    }
    compare(members, *own, &RankCollective::first_op, &RankCollective::ops, ops_[own->rank]);
    compare(members, *own, &RankCollective::first_idle, &RankCollective::idles, idle_[own->rank]);
  }

  // What the others keep no time of takes them less than that of which they do.
  void compare(std::span<const MatchedMember> members, const MatchedMember& own,
               uint32_t RankCollective::* first, uint32_t RankCollective::* count,
               std::map<WorkKey, LateWork>& sums) {
    const RankFacts& rank = ranks_[own.rank];
    const RankCollective& c = run(own);
    for (uint32_t k = 0; k < c.*count; ++k) {
      const RankWork& work = rank.work[c.*first + k];
      const std::string& name = rank.text(work.name);
      std::vector<Nanos> times, counts;
      for (const MatchedMember& m : members) {
        if (m.rank == own.rank) continue;
        const RankFacts& other = ranks_[m.rank];
        const RankCollective& theirs = run(m);
        RankWork found;
        for (uint32_t j = 0; j < theirs.*count; ++j) {
          const RankWork& candidate = other.work[theirs.*first + j];
          if (candidate.cause == work.cause && other.text(candidate.name) == name)
            found = candidate;
        }
        times.push_back(found.time);
        counts.push_back(Nanos{found.count});
      }
      add(sums[{name, rank.text(work.place), work.cause}], work, median_time(std::move(times)),
          static_cast<uint64_t>(median_time(std::move(counts)).count));
    }
  }

  static void add(LateWork& sum, const RankWork& own, Nanos others, uint64_t other_count) {
    sum.own += own.time;
    sum.others += others;
    sum.own_count += own.count;
    sum.other_count += other_count;
  }

  static std::vector<LateWork> largest(std::map<WorkKey, LateWork>& sums) {
    std::vector<LateWork> list;
    for (auto& [key, work] : sums) {
      std::tie(work.name, work.place, work.cause) = key;
      work.excess = work.own - work.others;
      if (work.excess.count > 0) list.push_back(std::move(work));
    }
    std::ranges::stable_sort(
        list, [](const LateWork& x, const LateWork& y) { return x.excess > y.excess; });
    list.resize(std::min(list.size(), kWorkKept));
    return list;
  }

  void conclude(LateRank& late) {
    late.ops = largest(ops_[late.rank]);
    late.idle = largest(idle_[late.rank]);
    const auto most = std::ranges::max_element(late.excess);
    if (late.explained == 0 || most->count <= 0) return;
    late.part = static_cast<size_t>(most - late.excess.begin());
    if (late.part == part_index(RankPart::kComputation)) {
      const bool more =
          late.ops.empty() || static_cast<double>(late.ops[0].own_count) >
                                  kMoreKernels * static_cast<double>(late.ops[0].other_count);
      late.reason = more ? LateReason::kMoreWork : LateReason::kSlowerKernels;
    } else if (late.part == part_index(RankPart::kCommunication)) {
      late.reason = LateReason::kCommunication;
    } else if (late.part == part_index(RankPart::kCopies)) {
      late.reason = LateReason::kCopies;
    } else {
      late.reason = LateReason::kIdle;
      // What stands for the part that is largest comes first.
      const auto cause = static_cast<IdleCause>(late.part - part_index(RankPart::kFirstIdle));
      std::ranges::stable_partition(late.idle,
                                    [cause](const LateWork& w) { return w.cause == cause; });
    }
  }

  std::span<const RankFacts> ranks_;
  const CollectiveMatches& matches_;
  std::span<const CollectiveWait> waits_;
  std::vector<std::vector<uint32_t>> matched_of_;  // by rank and collective
  std::vector<LateRank> out_;
  std::vector<std::map<WorkKey, LateWork>> ops_, idle_;  // by rank
};

}  // namespace

std::vector<LateRank> explain_lateness(std::span<const RankFacts> ranks,
                                       const CollectiveMatches& matches,
                                       const ClockAlignment& clocks,
                                       std::span<const CollectiveWait> waits) {
  return Explanation(ranks, matches, clocks, waits).take();
}

}  // namespace fathom
