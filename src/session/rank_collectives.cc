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

constexpr size_t kMostRows = 1'000'000;  // of a sheet

using RunKey = std::tuple<std::string, std::string, int64_t>;

struct Member {
  size_t rank;
  const RankCollectives::Run* run;
};

// Runs of one collective on the ranks that have it.
struct Matched {
  std::vector<Member> members;

  // Each rank has it once. A number that comes twice in a trace tells nothing; a rank that lacks it
  // may be of another group.
  bool is_of_all(size_t ranks) const {
    std::vector<bool> seen(ranks);
    for (const Member& m : members) seen[m.rank] = true;
    return members.size() == ranks && std::ranges::all_of(seen, [](bool s) { return s; });
  }
  // The last to begin, by durations: the clocks of machines differ by more than a collective takes.
  const Member& last() const {
    return *std::ranges::min_element(members, {}, [](const Member& m) { return m.run->duration; });
  }
};

std::map<RunKey, Matched> match_runs(std::span<const RankCollectives> ranks) {
  std::map<RunKey, Matched> by_key;
  for (size_t r = 0; r < ranks.size(); ++r) {
    for (const RankCollectives::Run& run : ranks[r].runs)
      by_key[{run.group, run.name, run.number}].members.push_back({r, &run});
  }
  return by_key;
}

bool are_same_runs(const RankCollectives& a, const RankCollectives& b) {
  return std::ranges::equal(a.runs, b.runs,
                            [](const RankCollectives::Run& x, const RankCollectives::Run& y) {
                              return x.start == y.start && x.duration == y.duration &&
                                     x.number == y.number && x.name == y.name;
                            });
}

std::string rank_name(std::optional<int64_t> rank, const std::string& trace) {
  return rank ? fmt::format("rank {}", *rank) : trace;
}

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

std::vector<RepeatedRank> leave_out_repeats(std::vector<RankCollectives>& ranks) {
  std::vector<RepeatedRank> repeats;
  std::vector<RankCollectives> kept;
  for (RankCollectives& rank : ranks) {
    const auto earlier = std::ranges::find_if(kept, [&](const RankCollectives& k) {
      if (k.rank && rank.rank) return *k.rank == *rank.rank;
      return !rank.runs.empty() && are_same_runs(k, rank);
    });
    if (earlier == kept.end()) {
      kept.push_back(std::move(rank));
      continue;
    }
    repeats.push_back({rank.trace, earlier->trace, rank.rank, are_same_runs(*earlier, rank)});
  }
  ranks = std::move(kept);
  return repeats;
}

std::optional<RankWaits> compare_ranks(std::span<const RankCollectives> ranks) {
  if (ranks.size() < 2) return {};
  RankWaits waits;
  for (const RankCollectives& rank : ranks)
    waits.ranks.push_back({rank.rank, rank.trace, {}, {}, 0});
  double bytes = 0;
  Nanos rated;
  for (const auto& [key, matched] : match_runs(ranks)) {
    if (!matched.is_of_all(ranks.size())) {
      ++waits.unmatched;
      continue;
    }
    const Member& last = matched.last();
    ++waits.collectives;
    ++waits.ranks[last.rank].last;
    waits.transfer += last.run->duration;
    for (const Member& m : matched.members) {
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

namespace {

Table sheet_of_ranks(const RankWaits& waits) {
  Table table("ranks");
  Column& rank = table.text_column("rank");
  Column& trace = table.text_column("trace");
  Column& time = table.time_column("in collectives ms", Unit::kMillis);
  Column& transfer = table.time_column("transfer ms", Unit::kMillis);
  Column& waiting = table.time_column("waiting for other ranks ms", Unit::kMillis);
  Column& share = table.real_column("waiting percent", Unit::kPercent);
  Column& last = table.count_column("last to begin");
  for (const RankWaits::Rank& r : waits.ranks) {
    rank.add(r.rank ? std::to_string(*r.rank) : std::string());
    trace.add(r.trace);
    time.add(r.time);
    transfer.add(r.time - r.waiting);
    waiting.add(r.waiting);
    share.add(100 * ratio(r.waiting, r.time));
    last.add(static_cast<int64_t>(r.last));
  }
  return table;
}

Table sheet_of_collectives(std::span<const RankCollectives> ranks) {
  Table table("collectives_by_rank");
  Column& group = table.text_column("group");
  Column& name = table.text_column("collective");
  Column& number = table.count_column("number");
  Column& rank = table.text_column("rank");
  Column& duration = table.time_column("duration us", Unit::kMicros);
  Column& transfer = table.time_column("transfer us", Unit::kMicros);
  Column& waiting = table.time_column("waiting us", Unit::kMicros);
  Column& last = table.text_column("last to begin");
  Column& rate = table.real_column("bus GB/s of transfer", Unit::kGigabytesPerSecond);
  for (const auto& [key, matched] : match_runs(ranks)) {
    if (!matched.is_of_all(ranks.size())) continue;
    if (table.rows() + ranks.size() > kMostRows) break;
    const Member& decides = matched.last();
    for (const Member& m : matched.members) {
      group.add(m.run->group);
      name.add(m.run->name);
      number.add(m.run->number);
      rank.add(rank_name(ranks[m.rank].rank, ranks[m.rank].trace));
      duration.add(m.run->duration);
      transfer.add(decides.run->duration);
      waiting.add(m.run->duration - decides.run->duration);
      last.add(m.rank == decides.rank ? "yes" : "");
      if (decides.run->bus_bytes && decides.run->duration.count > 0) {
        rate.add(*decides.run->bus_bytes / seconds_of(decides.run->duration) / 1e9);
      } else {
        rate.add_unknown();
      }
    }
  }
  return table;
}

}  // namespace

std::vector<Table> rank_sheets(std::span<const RankCollectives> ranks, const RankWaits& waits) {
  std::vector<Table> sheets;
  sheets.push_back(sheet_of_ranks(waits));
  sheets.push_back(sheet_of_collectives(ranks));
  return sheets;
}

std::string repeated_rank_line(const RepeatedRank& repeat) {
  return repeat.is_same_recording
             ? fmt::format("{} and {} are the same recording: it counts once", repeat.counted,
                           repeat.trace)
             : fmt::format("{} and {} are both of {}: collectives are compared with the first",
                           repeat.counted, repeat.trace, rank_name(repeat.rank, repeat.trace));
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
        rank_name(r.rank, r.trace), micros_text(r.time), percent_text(ratio(r.waiting, r.time)),
        r.last, waits.collectives));
  }
  if (waits.ranks.size() > kMostRankLines)
    lines.push_back(fmt::format("  {} more ranks", waits.ranks.size() - kMostRankLines));
  // Most of them: chance alone spreads it evenly.
  if (straggler->last * 2 > waits.collectives) {
    lines.push_back(
        fmt::format("  The others wait for {}: look at its computation, not at the link",
                    rank_name(straggler->rank, straggler->trace)));
  }
  return lines;
}

}  // namespace fathom
