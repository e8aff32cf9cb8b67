#include "analyze/ranks/compare_ranks.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "analyze/communication.h"

namespace fathom {
namespace {

constexpr double kNoticeable = 0.01;  // of the wall time
constexpr double kMostlyLate = 0.8;   // of the steps
constexpr double kSameLength = 0.9;   // the shortest trace of the longest
constexpr size_t kMissingListed = 100;
constexpr double kHardlyWaits = 0.5;  // of what the others wait
constexpr double kNearlyAll = 0.9;    // of all lateness

// Whether a trace was recorded long before or after most of the others. Clocks of machines differ
// by seconds; only times that count from the epoch are compared. Where no time is that of most
// ranks and each rank has one trace, clocks are set differently: collectives align them.
class RecordedAtOtherTime {
 public:
  explicit RecordedAtOtherTime(const std::vector<RankFacts>& ranks) {
    std::vector<const RankFacts*> timed;
    for (const RankFacts& r : ranks) {
      if (r.base_time) timed.push_back(&r);
    }
    std::ranges::stable_sort(timed, {}, [](const RankFacts* r) { return r->begin; });
    size_t most = 0;
    for (size_t first = 0; first < timed.size();) {
      Nanos end = timed[first]->end;
      size_t next = first + 1;
      for (; next < timed.size() && !is_apart(end, timed[next]->begin); ++next)
        end = std::max(end, timed[next]->end);
      if (next - first > most) {
        most = next - first;
        begin_ = timed[first]->begin;
        end_ = end;
      }
      first = next;
    }
    std::set<int64_t> numbers;
    bool is_repeated = false;
    for (const RankFacts* r : timed) is_repeated |= r->rank && !numbers.insert(*r->rank).second;
    decides_ = 2 * most > timed.size() || is_repeated;
    if (!decides_ && !timed.empty()) apart_ = timed.back()->begin - timed.front()->begin;
  }
  bool operator()(const RankFacts& r) const {
    return decides_ && r.base_time && (is_apart(end_, r.begin) || is_apart(r.end, begin_));
  }
  Nanos apart() const { return apart_; }

 private:
  static bool is_apart(Nanos end, Nanos begin) {
    constexpr double kApart = 600e9;
    return static_cast<double>(begin.count) - static_cast<double>(end.count) > kApart;
  }

  Nanos begin_, end_, apart_;
  bool decides_ = false;
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
  out.recorded_apart = other_time.apart();
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

// Collectives of a rank's groups that others of the group have and it has not.
void count_missing(RankComparison& out) {
  std::map<int64_t, uint32_t> by_number;
  for (uint32_t r = 0; r < out.ranks.size(); ++r) {
    if (out.ranks[r].rank) by_number.emplace(*out.ranks[r].rank, r);
  }
  std::map<std::pair<uint32_t, uint32_t>, size_t> shared;  // by group and rank
  for (const MatchedCollective& c : out.matches.all) {
    for (const MatchedMember& m : out.matches.members_of(c)) ++shared[{c.group, m.rank}];
  }
  for (uint32_t g = 0; g < out.matches.groups.size(); ++g) {
    const MatchedGroup& group = out.matches.groups[g];
    std::set<uint32_t> ranks(group.ranks.begin(), group.ranks.end());
    for (const int64_t member : group.members) {
      if (const auto known = by_number.find(member); known != by_number.end())
        ranks.insert(known->second);
    }
    for (const uint32_t r : ranks) {
      const auto own = shared.find({g, r});
      out.rows[r].missing += group.collectives - (own == shared.end() ? 0 : own->second);
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

// Ranks that are late at the same time, as those of a slow machine: which of them is last is
// chance. They hardly wait, all others do. Empty: there are none, or one.
std::vector<uint32_t> late_together(const RankComparison& out) {
  std::vector<std::pair<double, uint32_t>> waits;  // mean of a collective
  for (uint32_t r = 0; r < out.rows.size(); ++r) {
    const RankRow& row = out.rows[r];
    if (row.collectives > 0)
      waits.emplace_back(
          static_cast<double>(row.waiting.count) / static_cast<double>(row.collectives), r);
  }
  std::ranges::sort(waits);
  size_t count = 0;
  double widest = 0;
  for (size_t i = 1; i < waits.size(); ++i) {
    const double gap = waits[i].first - waits[i - 1].first;
    if (gap <= widest) continue;
    widest = gap;
    count = i;
  }
  if (count < 2 || 2 * count > waits.size() ||
      waits[count - 1].first > kHardlyWaits * waits[count].first)
    return {};
  std::vector<uint32_t> ranks;
  Nanos late_by;
  for (size_t i = 0; i < count; ++i) {
    ranks.push_back(waits[i].second);
    late_by += out.late[waits[i].second].late_by;
  }
  if (ratio(late_by, out.lateness) < kNearlyAll) return {};
  std::ranges::sort(ranks);
  return ranks;
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
  out.late_ranks = late_together(out);
  if (!out.late_ranks.empty()) out.verdict = RankVerdict::kTogether;
  if (out.verdict == RankVerdict::kStraggler) out.late_ranks = {out.straggler};
  if (out.late_ranks.empty() || out.steps.size() < 2) return;
  const auto is_late = [&out](const StepRow& step) {
    return step.late && std::ranges::binary_search(out.late_ranks, *step.late);
  };
  // Back from the last step, as long as the late rank is one of them in most.
  size_t late = 0, all = 0;
  for (auto step = out.steps.rbegin(); step != out.steps.rend(); ++step) {
    ++all;
    late += is_late(*step);
    if (is_late(*step) && static_cast<double>(late) >= kMostlyLate * static_cast<double>(all))
      out.since = step->number;
  }
}

}  // namespace

std::string_view rank_verdict_name(RankVerdict verdict) {
  static constexpr std::string_view kNames[] = {"no_collectives", "even", "straggler",
                                                "late_together", "moving"};
  return kNames[static_cast<size_t>(verdict)];
}

std::vector<std::pair<std::string, size_t>> RankComparison::gpus() const {
  std::map<std::string, size_t> counts;
  for (const RankFacts& r : ranks) {
    if (!r.gpu.empty()) ++counts[r.gpu];
  }
  std::vector<std::pair<std::string, size_t>> out(counts.begin(), counts.end());
  std::ranges::stable_sort(out, std::greater<>(), [](const auto& gpu) { return gpu.second; });
  return out;
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
  count_missing(out);
  sum_collectives(out, platform);
  compare_steps(out);
  judge(out);
  out.path = find_rank_path(out.ranks, out.matches, out.clocks, out.waits);
  out.pipeline = find_pipeline(out.ranks, out.matches);
  out.experts = measure_experts(out.ranks, out.matches);
  return out;
}

}  // namespace fathom
