#include "analyze/ranks/compare_ranks.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "analyze/communication.h"

namespace fathom {
namespace {

constexpr double kNoticeable = 0.01;  // of the wall time
constexpr double kMostlyLate = 0.8;   // of the steps
constexpr double kSameLength = 0.9;   // the shortest trace of the longest
constexpr size_t kMissingListed = 100;

// Whether a trace was recorded long before or after most of the others. Clocks of machines differ
// by seconds; only times that count from the epoch are compared.
class RecordedAtOtherTime {
 public:
  explicit RecordedAtOtherTime(const std::vector<RankFacts>& ranks) {
    std::vector<Nanos> begins, ends;
    for (const RankFacts& r : ranks) {
      if (!r.base_time) continue;
      begins.push_back(r.begin);
      ends.push_back(r.end);
    }
    begin_ = median_time(std::move(begins));
    end_ = median_time(std::move(ends));
  }
  bool operator()(const RankFacts& r) const {
    constexpr Nanos kApart{600'000'000'000};
    return r.base_time && (r.begin > end_ + kApart || r.end + kApart < begin_);
  }

 private:
  Nanos begin_, end_;
};

// One trace for each rank, of one job: the world size that most traces have.
void choose_ranks(std::vector<RankFacts> given, RankComparison& out) {
  std::map<int64_t, size_t> worlds;
  for (const RankFacts& r : given) {
    if (r.world_size) ++worlds[*r.world_size];
  }
  if (!worlds.empty())
    out.world_size =
        std::ranges::max_element(worlds, {}, [](const auto& w) { return w.second; })->first;
  std::map<int64_t, size_t> taken;
  const RecordedAtOtherTime other_time(given);
  for (RankFacts& r : given) {
    RefusedRank refused{r.trace, r.rank, r.world_size, RankRefusal::kOtherJob, {}};
    if ((r.world_size && *r.world_size != *out.world_size) || other_time(r)) {
      out.refused.push_back(std::move(refused));
      continue;
    }
    if (!r.rank && !r.world_size && out.world_size) {
      refused.why = RankRefusal::kNoRank;
      out.refused.push_back(std::move(refused));
      continue;
    }
    if (r.rank) {
      const auto [place, is_new] = taken.try_emplace(*r.rank, out.ranks.size());
      if (!is_new) {
        refused.why = RankRefusal::kRepeated;
        refused.instead = out.ranks[place->second].trace;
        out.refused.push_back(std::move(refused));
        continue;
      }
      if (out.world_size && *r.rank >= *out.world_size) ++out.beyond_world;
    }
    out.ranks.push_back(std::move(r));
  }
  std::ranges::stable_sort(out.ranks, {}, [](const RankFacts& r) {
    return std::pair(r.rank.value_or(INT64_MAX), r.trace);
  });
  if (!out.world_size) return;
  // A hostile world size is no reason to count that far.
  out.missing_count = static_cast<size_t>(std::max<int64_t>(0, *out.world_size));
  for (const auto& [rank, place] : taken) out.missing_count -= rank < *out.world_size && rank >= 0;
  for (int64_t rank = 0; rank < *out.world_size && out.missing.size() < kMissingListed &&
                         out.missing.size() < out.missing_count;
       ++rank) {
    if (!taken.contains(rank)) out.missing.push_back(rank);
  }
}

void fill_rows(RankComparison& out) {
  out.rows.resize(out.ranks.size());
  for (const CollectiveWait& wait : out.waits) {
    const auto members = out.matches.members_of(out.matches.all[wait.matched]);
    const std::vector<Nanos> waited = member_waits(out.ranks, out.matches, out.clocks, wait);
    ++out.rows[wait.first].first;
    ++out.rows[wait.last].last;
    for (size_t i = 0; i < members.size(); ++i) {
      RankRow& row = out.rows[members[i].rank];
      const RankCollective& c = out.ranks[members[i].rank].collectives[members[i].collective];
      const Nanos computed = c.until_end[part_index(RankPart::kComputation)] -
                             c.until_start[part_index(RankPart::kComputation)];
      ++row.collectives;
      row.time += c.duration();
      row.waiting += waited[i];
      row.exposed_waiting += std::min(waited[i], std::max(Nanos{}, c.duration() - computed));
      row.transfer += wait.transfer;
      row.rest += c.duration() - waited[i] - wait.transfer;
    }
  }
}

void sum_collectives(RankComparison& out, const Platform* platform) {
  std::map<std::tuple<uint32_t, CollectiveKind, std::string, double>, CollectiveRow> rows;
  std::map<std::tuple<uint32_t, CollectiveKind, std::string, double>, std::map<uint32_t, size_t>>
      last;
  struct Rated {
    double bytes = 0, bus_bytes = 0;
    Nanos time;
  };
  std::map<const CollectiveRow*, Rated> rated;
  for (const CollectiveWait& wait : out.waits) {
    const MatchedCollective& matched = out.matches.all[wait.matched];
    const MatchedMember first = out.matches.members_of(matched)[0];
    const RankFacts& rank = out.ranks[first.rank];
    const RankCollective& c = rank.collectives[first.collective];
    // Those of all-to-alls are all different.
    const bool sized = c.kind != CollectiveKind::kAllToAll && wait.bytes;
    const std::tuple key(matched.group, c.kind, rank.text(c.dtype), sized ? *wait.bytes : -1.0);
    const auto [place, is_new] = rows.try_emplace(key);
    CollectiveRow& row = place->second;
    if (is_new) {
      row.group = matched.group;
      row.kind = c.kind;
      row.name = rank.text(c.name);
      row.dtype = rank.text(c.dtype);
      if (sized) row.bytes = wait.bytes;
      row.least_transfer = wait.transfer;
    }
    ++row.count;
    row.ranks = std::max<size_t>(row.ranks, matched.members);
    row.transfer += wait.transfer;
    row.least_transfer = std::min(row.least_transfer, wait.transfer);
    row.most_transfer = std::max(row.most_transfer, wait.transfer);
    row.skew += wait.skew;
    row.most_skew = std::max(row.most_skew, wait.skew);
    row.waiting += wait.waiting;
    ++last[key][wait.last];
    if (wait.bytes && wait.transfer.count > 0) {
      Rated& sum = rated[&row];
      sum.bytes += *wait.bytes;
      sum.bus_bytes += wait.bus_bytes.value_or(0);
      sum.time += wait.transfer;
    }
  }
  for (auto& [key, row] : rows) {
    for (const auto& [rank, count] : last[key]) {
      if (count > row.last_count) {
        row.last_count = count;
        row.mostly_last = rank;
      }
    }
    const auto sum = rated.find(&row);
    if (sum != rated.end() && sum->second.time.count > 0) {
      row.algorithm_rate = sum->second.bytes / seconds_of(sum->second.time);
      if (sum->second.bus_bytes > 0)
        row.bus_rate = sum->second.bus_bytes / seconds_of(sum->second.time);
    }
    const bool on_gpu = !out.matches.groups[row.group].on_host;
    const Link* link = on_gpu ? link_of(platform, static_cast<int64_t>(row.ranks)) : nullptr;
    if (link != nullptr) out.link = link;
    if (link != nullptr && row.bus_rate && link->bytes_per_second > 0)
      row.of_link = *row.bus_rate / link->bytes_per_second;
    out.collectives.push_back(std::move(row));
  }
  std::ranges::stable_sort(out.collectives, [](const CollectiveRow& x, const CollectiveRow& y) {
    return x.transfer + x.skew > y.transfer + y.skew;
  });
}

void compare_steps(RankComparison& out) {
  std::map<int64_t, StepRow> rows;
  for (uint32_t r = 0; r < out.ranks.size(); ++r) {
    for (const RankStep& step : out.ranks[r].steps) {
      if (!step.number) continue;
      const auto [place, is_new] = rows.try_emplace(*step.number);
      StepRow& row = place->second;
      const Nanos length = step.end - step.begin;
      row.number = *step.number;
      ++row.ranks;
      if (is_new || length < row.shortest) row.shortest = length;
      if (!is_new && length <= row.longest) continue;
      row.longest = length;
      row.longest_rank = r;
    }
  }
  std::map<int64_t, std::map<uint32_t, Nanos>> late;
  for (const CollectiveWait& wait : out.waits) {
    const MatchedMember first = out.matches.members_of(out.matches.all[wait.matched])[0];
    const std::optional<int64_t> step = out.ranks[first.rank].collectives[first.collective].step;
    if (step && rows.contains(*step)) late[*step][wait.last] += wait.late_by;
  }
  for (auto& [number, row] : rows) {
    if (row.ranks < 2) continue;
    for (const auto& [rank, time] : late[number]) {
      row.lateness += time;
      if (row.late && time <= row.late_by) continue;
      row.late = rank;
      row.late_by = time;
    }
    out.steps.push_back(row);
  }
}

void judge(RankComparison& out) {
  const auto [shortest, longest] =
      std::ranges::minmax_element(out.ranks, {}, [](const RankFacts& r) { return r.wall(); });
  out.unequal_lengths =
      longest->wall().count > 0 && ratio(shortest->wall(), longest->wall()) < kSameLength;
  double computing = 0, most = 0;
  for (uint32_t r = 0; r < out.ranks.size(); ++r) {
    const Nanos time = out.ranks[r].parts[part_index(RankPart::kComputation)];
    const double own =
        out.unequal_lengths ? ratio(time, out.ranks[r].wall()) : static_cast<double>(time.count);
    out.wall += out.ranks[r].wall();
    computing += own;
    if (own > most) {
      most = own;
      out.most_computing = r;
    }
  }
  const auto n = static_cast<int64_t>(out.ranks.size());
  out.wall = Nanos{out.wall.count / n};
  if (most > 0) out.computation_balance = computing / most / static_cast<double>(n);
  if (out.waits.empty()) return;
  for (const LateRank& late : out.late) out.lateness += late.late_by;
  const auto worst = std::ranges::max_element(out.late, {}, &LateRank::late_by);
  out.straggler = worst->rank;
  out.straggler_share = ratio(worst->late_by, out.lateness);
  if (ratio(out.lateness, out.wall) < kNoticeable) {
    out.verdict = RankVerdict::kEven;
    return;
  }
  // More than chance: of two ranks one has half of it anyway.
  const double enough = 0.5 + 0.5 / static_cast<double>(n);
  out.verdict = out.straggler_share >= enough ? RankVerdict::kStraggler : RankVerdict::kMoving;
  if (out.verdict != RankVerdict::kStraggler || out.steps.size() < 2) return;
  // Back from the last step, as long as it is the late one in most of them.
  size_t late = 0, all = 0;
  for (auto step = out.steps.rbegin(); step != out.steps.rend(); ++step) {
    ++all;
    late += step->late == out.straggler;
    if (step->late == out.straggler &&
        static_cast<double>(late) >= kMostlyLate * static_cast<double>(all))
      out.since = step->number;
  }
}

}  // namespace

std::string_view rank_verdict_name(RankVerdict verdict) {
  static constexpr std::string_view kNames[] = {"no_collectives", "even", "straggler", "moving"};
  return kNames[static_cast<size_t>(verdict)];
}

std::string RankComparison::rank_name(uint32_t place) const {
  const RankFacts& rank = ranks[place];
  if (rank.rank) return "rank " + std::to_string(*rank.rank);
  // The file's name; where others have the same, with its folder's.
  const std::filesystem::path file(rank.trace);
  const bool is_alone = std::ranges::count(ranks, file.filename(), [](const RankFacts& other) {
                          return std::filesystem::path(other.trace).filename();
                        }) <= 1;
  return (is_alone ? file.filename() : file.parent_path().filename() / file.filename()).string();
}

RankComparison compare_ranks(std::vector<RankFacts> ranks, const Platform* platform) {
  RankComparison out;
  choose_ranks(std::move(ranks), out);
  if (out.ranks.empty()) return out;
  out.matches = match_collectives(out.ranks);
  out.clocks = align_clocks(out.ranks, out.matches);
  out.waits = measure_waits(out.ranks, out.matches, out.clocks);
  out.late = explain_lateness(out.ranks, out.matches, out.clocks, out.waits);
  fill_rows(out);
  sum_collectives(out, platform);
  compare_steps(out);
  judge(out);
  out.path = find_rank_path(out.ranks, out.matches, out.clocks, out.waits);
  out.pipeline = find_pipeline(out.ranks, out.matches, out.waits);
  out.experts = measure_experts(out.ranks, out.matches);
  return out;
}

}  // namespace fathom
