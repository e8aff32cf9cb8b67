#include "analyze/ranks/waits.h"

#include <algorithm>

namespace fathom {
namespace {

const RankCollective& run_at(std::span<const RankFacts> ranks, const MatchedMember& m) {
  return ranks[m.rank].collectives[m.collective];
}

// When each member began: on the common clock, or before the end that all share.
std::vector<Nanos> begins_of(std::span<const RankFacts> ranks, const ClockAlignment& clocks,
                             std::span<const MatchedMember> members, bool by_clocks) {
  std::vector<Nanos> begins;
  for (const MatchedMember& m : members) {
    const RankCollective& c = run_at(ranks, m);
    begins.push_back(by_clocks ? clocks.ranks[m.rank].to_common(c.start) : Nanos{} - c.duration());
  }
  return begins;
}

}  // namespace

Nanos median_time(std::vector<Nanos> times) {
  if (times.empty()) return {};
  const auto place = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, place);
  if (times.size() % 2 == 1) return *place;
  const Nanos below = *std::max_element(times.begin(), place);
  return below + Nanos{(*place - below).count / 2};
}

std::optional<double> CollectiveWait::algorithm_rate() const {
  if (!bytes || transfer.count <= 0) return {};
  return *bytes / seconds_of(transfer);
}

std::optional<double> CollectiveWait::bus_rate() const {
  if (!bus_bytes || transfer.count <= 0) return {};
  return *bus_bytes / seconds_of(transfer);
}

std::vector<Nanos> member_waits(std::span<const RankFacts> ranks, const CollectiveMatches& matches,
                                const ClockAlignment& clocks, const CollectiveWait& wait) {
  const auto members = matches.members_of(matches.all[wait.matched]);
  std::vector<Nanos> times = begins_of(ranks, clocks, members, wait.by_clocks);
  const Nanos last = *std::ranges::max_element(times);
  for (Nanos& time : times) time = last - time;
  return times;
}

std::vector<CollectiveWait> measure_waits(std::span<const RankFacts> ranks,
                                          const CollectiveMatches& matches,
                                          const ClockAlignment& clocks) {
  std::vector<CollectiveWait> waits;
  for (uint32_t i = 0; i < matches.all.size(); ++i) {
    if (clocks.contradicts[i]) continue;
    const auto members = matches.members_of(matches.all[i]);
    CollectiveWait wait;
    wait.matched = i;
    wait.by_clocks = std::ranges::all_of(
        members, [&](const MatchedMember& m) { return clocks.ranks[m.rank].aligned(); });
    // Those that do not end together cannot be told apart by their durations.
    if (!wait.by_clocks && !is_synchronizing(run_at(ranks, members[0]).kind)) continue;
    const std::vector<Nanos> begins = begins_of(ranks, clocks, members, wait.by_clocks);
    const auto [first, last] = std::ranges::minmax_element(begins);
    wait.first = members[static_cast<size_t>(first - begins.begin())].rank;
    const auto last_place = static_cast<size_t>(last - begins.begin());
    wait.last = members[last_place].rank;
    wait.skew = *last - *first;
    std::vector<Nanos> others = begins;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(last_place));
    wait.late_by = *last - median_time(std::move(others));
    for (const Nanos begin : begins) wait.waiting += *last - begin;
    wait.transfer = Nanos{INT64_MAX};
    Nanos first_end{INT64_MAX}, last_end{INT64_MIN};
    for (const MatchedMember& m : members) {
      const RankCollective& c = run_at(ranks, m);
      wait.transfer = std::min(wait.transfer, c.duration());
      const Nanos end = wait.by_clocks ? clocks.ranks[m.rank].to_common(c.end) : Nanos{};
      first_end = std::min(first_end, end);
      last_end = std::max(last_end, end);
      // Of an all-to-all the largest: the others wait for it.
      if (c.bytes) wait.bytes = std::max(wait.bytes.value_or(0), *c.bytes);
      if (c.bus_bytes) wait.bus_bytes = std::max(wait.bus_bytes.value_or(0), *c.bus_bytes);
    }
    // Where the traces do not have the size of the group, it is at least that of its ranks here.
    if (wait.bytes && !wait.bus_bytes) {
      const auto factor = bus_factor(collective_kind_name(run_at(ranks, members[0]).kind),
                                     static_cast<int64_t>(members.size()));
      if (factor) wait.bus_bytes = *wait.bytes * *factor;
    }
    wait.end_skew = last_end - first_end;
    const RankCollective& own = run_at(ranks, members[last_place]);
    wait.begin = wait.by_clocks ? *last : own.start;
    wait.end = wait.by_clocks ? last_end : own.end;
    waits.push_back(wait);
  }
  return waits;
}

std::string_view late_reason_name(LateReason reason) {
  static constexpr std::string_view kNames[] = {"unknown",       "slower_kernels", "more_work",
                                                "communication", "copies",         "idle"};
  return kNames[static_cast<size_t>(reason)];
}

}  // namespace fathom
