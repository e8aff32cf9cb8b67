#include "session/rank_collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/finding_parts.h"
#include "base/count_text.h"
#include "sheets/collectives.h"

namespace fathom {
namespace {

// Of one trace; more would only make the memory of many ranks grow.
constexpr size_t kMostRuns = 1'000'000;
constexpr size_t kMostRankLines = 16;

using RunKey = std::tuple<std::string, std::string, int64_t>;

}  // namespace

RankCollectives collect_collectives(const Trace& trace) {
  const EventStore& store = trace.store;
  RankCollectives out{trace.path, store.metadata().rank, {}};
  std::vector<const Collective*> found;
  for (const Collective& c : store.collectives()) {
    if (is_gpu_work(store.kind(c.event))) found.push_back(&c);
  }
  std::ranges::stable_sort(found, {},
                           [&store](const Collective* c) { return store.start(c->event); });
  std::map<std::pair<StringId, StringId>, int64_t> numbers;
  for (const Collective* c : found) {
    if (out.runs.size() == kMostRuns) break;
    const int64_t order = numbers[{c->group_name, c->name}]++;
    out.runs.push_back({std::string(store.text(c->group_name)), std::string(store.text(c->name)),
                        c->sequence.value_or(order), store.start(c->event),
                        store.duration(c->event), message_of(store, *c).bus_bytes});
  }
  return out;
}

std::optional<RankWaits> compare_ranks(std::span<const RankCollectives> ranks) {
  if (ranks.size() < 2) return {};
  struct Member {
    size_t rank;
    const RankCollectives::Run* run;
  };
  std::map<RunKey, std::vector<Member>> by_key;
  for (size_t r = 0; r < ranks.size(); ++r) {
    for (const RankCollectives::Run& run : ranks[r].runs)
      by_key[{run.group, run.name, run.number}].push_back({r, &run});
  }
  RankWaits waits;
  for (const RankCollectives& rank : ranks)
    waits.ranks.push_back({rank.rank, rank.trace, {}, {}, 0});
  double bytes = 0;
  Nanos rated;
  for (const auto& [key, members] : by_key) {
    // A number that comes twice in a trace tells nothing; a rank that lacks it may be of another
    // group.
    std::vector<bool> seen(ranks.size());
    for (const Member& m : members) seen[m.rank] = true;
    const bool all = std::ranges::count(seen, true) == static_cast<std::ptrdiff_t>(ranks.size());
    if (!all || members.size() != ranks.size()) {
      ++waits.unmatched;
      continue;
    }
    // By durations: the clocks of machines differ by more than a collective takes.
    const Member& last =
        *std::ranges::min_element(members, {}, [](const Member& m) { return m.run->duration; });
    ++waits.collectives;
    ++waits.ranks[last.rank].last;
    waits.transfer += last.run->duration;
    for (const Member& m : members) {
      waits.ranks[m.rank].time += m.run->duration;
      waits.ranks[m.rank].waiting += m.run->duration - last.run->duration;
    }
    if (last.run->bus_bytes && last.run->duration.count > 0) {
      bytes += *last.run->bus_bytes;
      rated += last.run->duration;
    }
  }
  if (waits.collectives == 0) return {};
  if (rated.count > 0) waits.bus_rate = bytes / seconds_of(rated);
  return waits;
}

std::vector<std::string> rank_waits_lines(const RankWaits& waits) {
  std::vector<std::string> lines;
  std::string first = fmt::format("Collectives of {} ranks: {}, transfer {}", waits.ranks.size(),
                                  fmt::format("{} in common", number_text(waits.collectives)),
                                  micros_text(waits.transfer));
  if (waits.bus_rate) first += fmt::format(" at {:.1f} GB/s on the bus", *waits.bus_rate / 1e9);
  if (waits.unmatched > 0) first += fmt::format("; {} not in all traces", waits.unmatched);
  lines.push_back(std::move(first));
  const auto straggler = std::ranges::max_element(waits.ranks, {}, &RankWaits::Rank::last);
  for (size_t i = 0; i < std::min(kMostRankLines, waits.ranks.size()); ++i) {
    const RankWaits::Rank& r = waits.ranks[i];
    lines.push_back(fmt::format(
        "  {}: {} in collectives, {} of it waiting for other ranks; last to begin in {} of {}",
        r.rank ? fmt::format("rank {}", *r.rank) : r.trace, micros_text(r.time),
        percent_text(ratio(r.waiting, r.time)), r.last, waits.collectives));
  }
  if (waits.ranks.size() > kMostRankLines)
    lines.push_back(fmt::format("  {} more ranks", waits.ranks.size() - kMostRankLines));
  // Most of them: chance alone spreads it evenly.
  if (straggler->last * 2 > waits.collectives) {
    lines.push_back(
        fmt::format("  The others wait for {}: look at its computation, not at the link",
                    straggler->rank ? fmt::format("rank {}", *straggler->rank) : straggler->trace));
  }
  return lines;
}

}  // namespace fathom
