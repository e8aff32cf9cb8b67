#include "analyze/ranks/align_clocks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace fathom {
namespace {

constexpr size_t kFewest = 3, kFewestForDrift = 8;
constexpr double kLargestDrift = 1e-3;  // no clock of a computer is off by more
constexpr double kDriftErrors = 4;      // a drift within so many standard errors is none
constexpr size_t kBlocks = 8;           // of neighbours, whose errors are alike
constexpr double kSure = 2.36;          // standard errors of 8 blocks: 95 %
constexpr double kOutlier = 5;          // median residuals
constexpr double kMostContradictions = 0.05;
// Kernels end within microseconds of each other, and clocks are read to about as much.
constexpr Nanos kSmallResidual{50'000};

// The end of a collective on a parent rank, and how much later it ended by the other's clock.
struct EndPair {
  double at = 0, ahead = 0;  // ns from the first pair's
};

double middle(std::vector<double> values, double at = 0.5) {
  const auto place =
      values.begin() + static_cast<std::ptrdiff_t>(at * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, place);
  return *place;
}

struct Line {
  double at = 0, ahead = 0, slope = 0;
  std::optional<double> slope_error;  // a standard error; none: too few pairs for a slope
  double value(double x) const { return ahead + slope * (x - at); }
};

std::vector<double> residuals_of(std::span<const EndPair> pairs, const Line& line) {
  std::vector<double> out;
  for (const EndPair& p : pairs) out.push_back(std::abs(p.ahead - line.value(p.at)));
  return out;
}

// Through the medians of the first and the last third: a few wild pairs do not move it.
Line resistant_line(std::span<const EndPair> pairs) {
  const auto centre = [](std::span<const EndPair> part) {
    std::vector<double> at, ahead;
    for (const EndPair& p : part) {
      at.push_back(p.at);
      ahead.push_back(p.ahead);
    }
    return EndPair{middle(std::move(at)), middle(std::move(ahead))};
  };
  const EndPair whole = centre(pairs);
  Line line{whole.at, whole.ahead, 0, {}};
  if (pairs.size() < kFewestForDrift) return line;
  const size_t third = pairs.size() / 3;
  const EndPair first = centre(pairs.first(third)), last = centre(pairs.last(third));
  if (last.at <= first.at) return line;
  line.slope = (last.ahead - first.ahead) / (last.at - first.at);
  std::vector<double> rest;
  for (const EndPair& p : pairs) rest.push_back(p.ahead - line.slope * (p.at - line.at));
  line.ahead = middle(std::move(rest));
  return line;
}

// Sums of least squares; those of parts add up to those of the whole.
struct Moments {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  void add(const Moments& m, double sign) {
    n += sign * m.n;
    x += sign * m.x;
    y += sign * m.y;
    xx += sign * m.xx;
    xy += sign * m.xy;
  }
  double spread() const { return xx - x * x / n; }
  double slope() const { return (xy - x * y / n) / spread(); }
};

// By leaving out one block of neighbours after the other: collectives that follow each other end
// late together, so that there are fewer errors than pairs.
double slope_error(std::span<const EndPair> pairs, double at, double ahead) {
  std::array<Moments, kBlocks> blocks;
  Moments all;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const double x = pairs[i].at - at, y = pairs[i].ahead - ahead;
    blocks[i * kBlocks / pairs.size()].add({1, x, y, x * x, x * y}, 1);
    all.add({1, x, y, x * x, x * y}, 1);
  }
  double squares = 0;
  for (const Moments& block : blocks) {
    Moments rest = all;
    rest.add(block, -1);
    if (rest.spread() > 0) squares += std::pow(rest.slope() - all.slope(), 2);
  }
  return std::sqrt(squares * (kBlocks - 1) / kBlocks);
}

// Least squares over the pairs near the resistant line, which is steadier; without a slope where
// the pairs do not show one.
Line fit_line(std::span<const EndPair> pairs) {
  const Line rough = resistant_line(pairs);
  const std::vector<double> residuals = residuals_of(pairs, rough);
  const double limit = std::max(kOutlier * middle(residuals), 1.0);
  std::vector<EndPair> near;
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (residuals[i] <= limit) near.push_back(pairs[i]);
  }
  const auto n = static_cast<double>(near.size());
  double at = 0, ahead = 0;
  for (const EndPair& p : near) {
    at += p.at / n;
    ahead += p.ahead / n;
  }
  Line line{at, ahead, 0, {}};
  if (near.size() < kFewestForDrift) return line;
  double xx = 0, xy = 0, rr = 0;
  for (const EndPair& p : near) {
    xx += (p.at - at) * (p.at - at);
    xy += (p.at - at) * (p.ahead - ahead);
  }
  if (xx <= 0) return line;
  line.slope = xy / xx;
  for (const EndPair& p : near) rr += std::pow(p.ahead - line.value(p.at), 2);
  const double error =
      std::max(std::sqrt(rr / std::max(1.0, n - 2) / xx), slope_error(near, at, ahead));
  line.slope_error = error;
  if (std::abs(line.slope) <= kDriftErrors * error) line.slope = 0;
  return line;
}

struct Edge {
  uint32_t lead = 0, rank = 0, collective = 0;  // collective: of CollectiveMatches::all
  auto pair() const { return std::pair(lead, rank); }
};

class Alignment {
 public:
  Alignment(std::span<const RankFacts> ranks, const CollectiveMatches& matches)
      : ranks_(ranks), matches_(matches) {
    out_.ranks.resize(ranks.size());
    out_.contradicts.resize(matches.all.size());
  }

  ClockAlignment take() {
    if (ranks_.empty()) return std::move(out_);
    list_edges();
    // Kernels that no trace says more of: the fit shows whether they end together.
    out_.by_unknown_kind = edges_.empty();
    if (out_.by_unknown_kind) list_edges();
    choose_reference();
    follow_edges();
    find_contradictions();
    return std::move(out_);
  }

 private:
  const RankCollective& run(const MatchedMember& m) const {
    return ranks_[m.rank].collectives[m.collective];
  }

  bool ends_together(CollectiveKind kind) const {
    return out_.by_unknown_kind ? kind == CollectiveKind::kOther : is_synchronizing(kind);
  }

  // Each member beside the first of its collective: enough to connect all, and linear.
  void list_edges() {
    for (uint32_t i = 0; i < matches_.all.size(); ++i) {
      const auto members = matches_.members_of(matches_.all[i]);
      if (!ends_together(run(members[0]).kind)) continue;
      for (const MatchedMember& m : members.subspan(1))
        edges_.push_back({members[0].rank, m.rank, i});
    }
    std::ranges::stable_sort(edges_, {}, &Edge::pair);
  }

  // Rank 0, or the lowest that shares a collective.
  void choose_reference() {
    std::vector<bool> shares(ranks_.size(), edges_.empty());
    for (const Edge& e : edges_) shares[e.lead] = shares[e.rank] = true;
    std::optional<uint32_t> best;
    for (uint32_t r = 0; r < ranks_.size(); ++r) {
      if (!shares[r]) continue;
      if (!best || ranks_[r].rank.value_or(INT64_MAX) < ranks_[*best].rank.value_or(INT64_MAX))
        best = r;
    }
    out_.reference = best.value_or(0);
    RankClock& clock = out_.ranks[out_.reference];
    clock.refusal = ClockRefusal::kFits;
    clock.is_reference = true;
    clock.offset = Nanos{};
    clock.drift_error = 0;
  }

  // Out from the reference; of several ways to a rank the one with the most collectives.
  void follow_edges() {
    struct Bundle {
      uint32_t a, b;
      size_t begin, end;
      size_t size() const { return end - begin; }
    };
    std::vector<Bundle> bundles;
    for (size_t i = 0; i < edges_.size();) {
      size_t end = i + 1;
      while (end < edges_.size() && edges_[end].pair() == edges_[i].pair()) ++end;
      bundles.push_back({edges_[i].lead, edges_[i].rank, i, end});
      i = end;
    }
    std::vector<std::vector<uint32_t>> at(ranks_.size());
    for (uint32_t b = 0; b < bundles.size(); ++b) {
      at[bundles[b].a].push_back(b);
      at[bundles[b].b].push_back(b);
    }
    // The largest bundle first (Prim).
    std::vector<std::pair<size_t, uint32_t>> heap;
    std::vector<bool> tried(bundles.size());
    const auto reach = [&](uint32_t rank) {
      for (const uint32_t b : at[rank]) {
        if (tried[b]) continue;
        tried[b] = true;
        heap.emplace_back(bundles[b].size(), UINT32_MAX - b);
        std::ranges::push_heap(heap);
      }
    };
    reach(out_.reference);
    while (!heap.empty()) {
      std::ranges::pop_heap(heap);
      const Bundle& bundle = bundles[UINT32_MAX - heap.back().second];
      heap.pop_back();
      const bool forward = out_.ranks[bundle.a].aligned();
      const uint32_t parent = forward ? bundle.a : bundle.b, rank = forward ? bundle.b : bundle.a;
      if (out_.ranks[rank].aligned()) continue;
      align(parent, rank, std::span(edges_).subspan(bundle.begin, bundle.size()));
      if (out_.ranks[rank].aligned()) reach(rank);
    }
  }

  const RankCollective& run_of(uint32_t collective, uint32_t rank) const {
    const auto members = matches_.members_of(matches_.all[collective]);
    return run(*std::ranges::lower_bound(members, rank, {}, &MatchedMember::rank));
  }

  void align(uint32_t parent, uint32_t rank, std::span<const Edge> edges) {
    RankClock& clock = out_.ranks[rank];
    clock.collectives = edges.size();
    if (edges.size() < kFewest) {
      clock.refusal = ClockRefusal::kTooFew;
      return;
    }
    const Nanos parent_origin = run_of(edges[0].collective, parent).end;
    const Nanos own_origin = run_of(edges[0].collective, rank).end;
    std::vector<EndPair> pairs;
    std::vector<double> durations;
    for (const Edge& e : edges) {
      const RankCollective &a = run_of(e.collective, parent), &b = run_of(e.collective, rank);
      const Nanos at = a.end - parent_origin;
      pairs.push_back(
          {static_cast<double>(at.count), static_cast<double>((b.end - own_origin - at).count)});
      durations.push_back(static_cast<double>(std::min(a.duration(), b.duration()).count));
    }
    std::ranges::stable_sort(pairs, {}, &EndPair::at);
    const Line line = fit_line(pairs);
    std::vector<double> residuals = residuals_of(pairs, line);
    const auto nanos = [](double value) { return Nanos{std::llround(std::min(value, 9e18))}; };
    clock.residual = nanos(middle(residuals));
    clock.residual_p90 = nanos(middle(residuals, 0.9));
    clock.worst = nanos(*std::ranges::max_element(residuals));
    clock.drift = line.slope;
    if (std::abs(line.slope) > kLargestDrift) {
      clock.refusal = ClockRefusal::kDrift;
      return;
    }
    const Nanos usual = nanos(middle(std::move(durations)));
    if (clock.residual_p90 > std::max(kSmallResidual, usual)) {
      clock.refusal = ClockRefusal::kResiduals;
      return;
    }
    // At `line.at` after the parent's origin the own clock shows own_origin + at + ahead.
    const RankClock& above = out_.ranks[parent];
    clock.own_origin = own_origin + Nanos{std::llround(line.at + line.ahead)};
    clock.common_origin = above.to_common(parent_origin + Nanos{std::llround(line.at)});
    clock.scale = above.scale / (1 + line.slope);
    if (ranks_[rank].base_time.has_value() == ranks_[out_.reference].base_time.has_value())
      clock.offset = clock.own_origin - clock.common_origin;
    clock.drift = 1 / clock.scale - 1;
    if (line.slope_error && above.drift_error)
      clock.drift_error = std::hypot(kSure * *line.slope_error, *above.drift_error);
    clock.refusal = ClockRefusal::kFits;
  }

  void find_contradictions() {
    std::vector<size_t> of_rank(ranks_.size()), shared(ranks_.size());
    for (uint32_t i = 0; i < matches_.all.size(); ++i) {
      const auto members = matches_.members_of(matches_.all[i]);
      if (!ends_together(run(members[0]).kind)) continue;
      // The rank whose end lies farthest from the middle one's is the one that does not fit.
      Nanos last_start{INT64_MIN}, first_end{INT64_MAX};
      std::vector<std::pair<Nanos, uint32_t>> ends;
      for (const MatchedMember& m : members) {
        const RankClock& clock = out_.ranks[m.rank];
        if (!clock.aligned()) continue;
        ++shared[m.rank];
        const RankCollective& c = run(m);
        last_start = std::max(last_start, clock.to_common(c.start));
        const Nanos end = clock.to_common(c.end);
        first_end = std::min(first_end, end);
        ends.emplace_back(end, m.rank);
      }
      if (ends.size() < 2 || last_start <= first_end + kSmallResidual) continue;
      out_.contradicts[i] = true;
      ++out_.contradictions;
      std::ranges::sort(ends);
      const Nanos usual = ends[ends.size() / 2].first;
      const bool early = usual - ends.front().first > ends.back().first - usual;
      ++of_rank[early ? ends.front().second : ends.back().second];
    }
    for (size_t r = 0; r < ranks_.size(); ++r) {
      if (static_cast<double>(of_rank[r]) <= kMostContradictions * static_cast<double>(shared[r]))
        continue;
      if (out_.ranks[r].is_reference) continue;
      out_.ranks[r].refusal = ClockRefusal::kContradiction;
    }
  }

  std::span<const RankFacts> ranks_;
  const CollectiveMatches& matches_;
  std::vector<Edge> edges_;
  ClockAlignment out_;
};

}  // namespace

std::string_view clock_refusal_name(ClockRefusal refusal) {
  static constexpr std::string_view kNames[] = {"none",  "nothing_shared", "too_few_collectives",
                                                "drift", "residuals",      "contradiction"};
  return kNames[static_cast<size_t>(refusal)];
}

Nanos RankClock::to_common(Nanos own) const {
  const Nanos since = own - own_origin;
  // Exact where there is no drift: a double has fewer digits than a time.
  const double off = std::clamp(static_cast<double>(since.count) * (scale - 1), -9e18, 9e18);
  return common_origin + since + Nanos{std::llround(off)};
}

bool ClockAlignment::all_aligned() const { return std::ranges::all_of(ranks, &RankClock::aligned); }

ClockAlignment align_clocks(std::span<const RankFacts> ranks, const CollectiveMatches& matches) {
  return Alignment(ranks, matches).take();
}

}  // namespace fathom
