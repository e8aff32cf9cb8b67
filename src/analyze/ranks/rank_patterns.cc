#include "analyze/ranks/rank_patterns.h"

#include <algorithm>
#include <set>

namespace fathom {
namespace {

struct Neighbours {
  std::set<uint32_t> next, all;  // that it sends to; or receives from
};

// From the first rank of a chain on; marks the stages of its ranks. False: it is none.
bool number_chain(uint32_t first, const std::vector<Neighbours>& graph, PipelineStages& out) {
  uint32_t at = first, number = 0;
  while (true) {
    if (graph[at].all.size() > 2) return false;
    out.stage[at] = number++;
    const auto next =
        std::ranges::find_if(graph[at].all, [&](uint32_t n) { return !out.stage[n].has_value(); });
    if (next == graph[at].all.end()) break;
    at = *next;
  }
  out.stages = std::max(out.stages, number);
  return true;
}

}  // namespace

std::optional<PipelineStages> find_pipeline(std::span<const RankFacts> ranks,
                                            const CollectiveMatches& matches) {
  std::vector<Neighbours> graph(ranks.size());
  std::vector<std::optional<Nanos>> first_receive(ranks.size()), first_send(ranks.size());
  PipelineStages out;
  out.stage.resize(ranks.size());
  out.bubble.resize(ranks.size());
  const auto run = [&](const MatchedMember& m) -> const RankCollective& {
    return ranks[m.rank].collectives[m.collective];
  };
  for (const MatchedCollective& matched : matches.all) {
    const auto members = matches.members_of(matched);
    // By durations: a pipeline may have no collective that aligns its clocks.
    Nanos transfer{INT64_MAX};
    for (const MatchedMember& m : members) transfer = std::min(transfer, run(m).duration());
    for (const MatchedMember& m : members) {
      const RankCollective& c = run(m);
      const bool sends = c.kind == CollectiveKind::kSend;
      if (!sends && c.kind != CollectiveKind::kReceive) break;
      const uint32_t other = members[sends ? 1 : 0].rank;
      if (other == m.rank) break;
      graph[m.rank].all.insert(other);
      if (sends) graph[m.rank].next.insert(other);
      std::optional<Nanos>& first = sends ? first_send[m.rank] : first_receive[m.rank];
      if (!first) first = c.start;
      const Nanos computed = c.until_end[part_index(RankPart::kComputation)] -
                             c.until_start[part_index(RankPart::kComputation)];
      out.bubble[m.rank] += std::max(Nanos{}, c.duration() - computed - transfer);
    }
  }
  // A chain begins at the end that sends before it receives.
  bool any = false;
  for (uint32_t r = 0; r < ranks.size(); ++r) {
    const bool is_end = graph[r].all.size() == 1;
    const bool sends_first =
        first_send[r] && (!first_receive[r] || *first_send[r] < *first_receive[r]);
    if (!is_end || !sends_first || out.stage[r]) continue;
    if (!number_chain(r, graph, out)) return {};
    any = true;
  }
  for (uint32_t r = 0; r < ranks.size(); ++r) {
    const bool sends_first =
        first_send[r] && (!first_receive[r] || *first_send[r] < *first_receive[r]);
    if (graph[r].all.size() != 2 || out.stage[r] || !sends_first) continue;
    out.is_ring = true;
    if (!number_chain(r, graph, out)) return {};
    any = true;
  }
  if (!any || out.stages < 2) return {};
  return out;
}

std::optional<ExpertBalance> measure_experts(std::span<const RankFacts> ranks,
                                             const CollectiveMatches& matches) {
  ExpertBalance out;
  out.received.resize(ranks.size());
  double sum = 0;
  for (const MatchedCollective& c : matches.all) {
    const auto members = matches.members_of(c);
    double total = 0, most = 0;
    bool known = true;
    for (const MatchedMember& m : members) {
      const RankCollective& run = ranks[m.rank].collectives[m.collective];
      known = known && run.kind == CollectiveKind::kAllToAll && run.out_elements &&
              *run.out_elements >= 0;
      if (!known) break;
      const auto received = static_cast<double>(*run.out_elements);
      total += received;
      most = std::max(most, received);
    }
    if (!known || total <= 0) continue;
    for (const MatchedMember& m : members)
      out.received[m.rank] +=
          static_cast<double>(*ranks[m.rank].collectives[m.collective].out_elements);
    const double imbalance = most * static_cast<double>(members.size()) / total;
    ++out.collectives;
    sum += imbalance;
    out.worst_imbalance = std::max(out.worst_imbalance, imbalance);
  }
  if (out.collectives == 0) return {};
  out.mean_imbalance = sum / static_cast<double>(out.collectives);
  out.most_loaded =
      static_cast<uint32_t>(std::ranges::max_element(out.received) - out.received.begin());
  return out;
}

}  // namespace fathom
