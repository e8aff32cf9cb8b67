#include "analyze/ranks/match_collectives.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "base/hash.h"

namespace fathom {
namespace {

// What ranks must agree on. Messages of an all-to-all differ by nature.
uint64_t signature_of(const RankFacts& rank, const RankCollective& c) {
  uint64_t size = 0;
  if (c.kind != CollectiveKind::kAllToAll && c.bytes) size = static_cast<uint64_t>(*c.bytes) + 1;
  const uint64_t type = hash_text(rank.text(c.dtype));
  return (type * 31 + static_cast<uint64_t>(c.kind) + 1) * 0x9e3779b97f4a7c15 + size;
}

// Readers take a negative duration as none. What begins and ends at once says nothing about
// either.
bool is_timeless(const RankCollective& c) { return c.duration().count <= 0; }

bool is_between_two(const RankCollective& c) {
  return c.kind == CollectiveKind::kSend || c.kind == CollectiveKind::kReceive;
}

// Where a run stands in the order that all ranks share.
struct Run {
  int64_t place = 0;    // sequence number, or step
  uint32_t number = 0;  // among those with the same
  uint32_t rank = 0, collective = 0;

  auto order() const { return std::tuple(place, number, rank, collective); }
  auto key() const { return std::tuple(place, number); }
};

class Matching {
 public:
  explicit Matching(std::span<const RankFacts> ranks) : ranks_(ranks) {
    for (size_t r = 0; r < ranks.size(); ++r) {
      if (ranks[r].rank) by_number_.emplace(*ranks[r].rank, static_cast<uint32_t>(r));
    }
  }

  CollectiveMatches take() {
    list_groups();
    count_conflicts();
    for (uint32_t g = 0; g < out_.groups.size(); ++g) match_group(g);
    match_pairs();
    std::ranges::stable_sort(out_.all, {}, [this](const MatchedCollective& c) {
      const MatchedMember& first = out_.members[c.first_member];
      return ranks_[first.rank].collectives[first.collective].start;
    });
    size_t matched = 0;
    for (const MatchedCollective& c : out_.all) matched += c.members;
    out_.unmatched = out_.runs - matched;
    return std::move(out_);
  }

 private:
  // A group's runs of one rank, in order.
  struct Part {
    uint32_t rank = 0;
    std::vector<uint32_t> runs;
  };

  void list_groups() {
    std::map<std::tuple<bool, std::string, std::string>, uint32_t> known;
    for (uint32_t r = 0; r < ranks_.size(); ++r) {
      const RankFacts& rank = ranks_[r];
      std::vector<uint32_t> number_of(rank.groups.size());
      for (size_t g = 0; g < rank.groups.size(); ++g) {
        const RankGroup& group = rank.groups[g];
        const auto [place, is_new] = known.try_emplace({group.on_host, group.name, group.ranks},
                                                       static_cast<uint32_t>(out_.groups.size()));
        if (is_new) {
          MatchedGroup made;
          made.name = group.name;
          made.description = group.description;
          made.members = group.members;
          made.on_host = group.on_host;
          out_.groups.push_back(std::move(made));
          parts_.emplace_back();
        }
        number_of[g] = place->second;
      }
      for (uint32_t i = 0; i < rank.collectives.size(); ++i) {
        const RankCollective& c = rank.collectives[i];
        ++out_.runs;
        if (is_between_two(c)) {
          pairs_.emplace_back(r, i);
          continue;
        }
        const uint32_t g = number_of[c.group];
        if (parts_[g].empty() || parts_[g].back().rank != r) {
          parts_[g].push_back({r, {}});
          out_.groups[g].ranks.push_back(r);
        }
        parts_[g].back().runs.push_back(i);
      }
    }
  }

  void count_conflicts() {
    std::map<std::pair<bool, std::string>, std::vector<uint32_t>> by_name;
    for (uint32_t g = 0; g < out_.groups.size(); ++g) {
      if (!out_.groups[g].members.empty())
        by_name[{out_.groups[g].on_host, out_.groups[g].name}].push_back(g);
    }
    for (const auto& [name, groups] : by_name) {
      if (groups.size() < 2) continue;
      std::set<uint32_t> holders;
      for (const uint32_t g : groups)
        holders.insert(out_.groups[g].ranks.begin(), out_.groups[g].ranks.end());
      for (const uint32_t g : groups) {
        const MatchedGroup& group = out_.groups[g];
        for (const int64_t member : group.members) {
          const auto rank = by_number_.find(member);
          if (rank == by_number_.end() || !holders.contains(rank->second)) continue;
          if (!std::ranges::binary_search(group.ranks, rank->second)) ++out_.group_conflicts;
        }
      }
    }
  }

  void match_group(uint32_t g) {
    std::vector<Part>& parts = parts_[g];
    if (parts.size() < 2) {
      for (const Part& part : parts) out_.groups[g].unmatched += part.runs.size();
      return;
    }
    const auto all_have = [&](auto has) {
      return std::ranges::all_of(parts, [&](const Part& part) {
        return std::ranges::all_of(
            part.runs, [&](uint32_t i) { return has(ranks_[part.rank].collectives[i]); });
      });
    };
    std::vector<Run> runs;
    if (all_have([](const RankCollective& c) { return c.sequence.has_value(); })) {
      out_.groups[g].by_sequence = true;
      for (const Part& part : parts) add_by_sequence(part, runs);
    } else {
      add_by_order(parts,
                   std::ranges::all_of(parts, [this](const Part& part) { return has_steps(part); }),
                   runs);
    }
    join(g, std::move(runs));
  }

  // Several kernels may carry one number: a coalesced call.
  void add_by_sequence(const Part& part, std::vector<Run>& runs) const {
    std::unordered_map<int64_t, uint32_t> seen;
    for (const uint32_t i : part.runs) {
      const int64_t sequence = *ranks_[part.rank].collectives[i].sequence;
      runs.push_back({sequence, seen[sequence]++, part.rank, i});
    }
  }

  // Of a trace that is cut off, the last ones have none.
  bool has_steps(const Part& part) const {
    const auto with = std::ranges::count_if(
        part.runs, [&](uint32_t i) { return ranks_[part.rank].collectives[i].step.has_value(); });
    return static_cast<size_t>(with) * 2 > part.runs.size();
  }

  struct Stretch {
    uint32_t part = 0;
    size_t begin = 0, end = 0;  // of the part's runs
    bool first = false, last = false;
  };

  // By place within the step, where the trace has steps.
  void add_by_order(const std::vector<Part>& parts, bool steps, std::vector<Run>& runs) {
    std::map<int64_t, std::vector<Stretch>> by_step;
    for (uint32_t p = 0; p < parts.size(); ++p) {
      const std::vector<RankCollective>& all = ranks_[parts[p].rank].collectives;
      const std::vector<uint32_t>& own = parts[p].runs;
      const auto step_of = [&](size_t i) {
        return steps ? all[own[i]].step : std::optional<int64_t>(0);
      };
      for (size_t i = 0; i < own.size();) {
        size_t end = i + 1;
        while (end < own.size() && step_of(end) == step_of(i)) ++end;
        if (step_of(i)) by_step[*step_of(i)].push_back({p, i, end, i == 0, end == own.size()});
        i = end;
      }
    }
    for (const auto& [step, stretches] : by_step) add_step(parts, step, stretches, runs);
  }

  // Each rank beside the order that most have. One that has fewer was recorded from later on, or up
  // to earlier: only its first or its last step may lack some at that end. Of any other, what
  // occurs as often as in that order is matched.
  void add_step(const std::vector<Part>& parts, int64_t step, const std::vector<Stretch>& stretches,
                std::vector<Run>& runs) {
    std::vector<std::vector<uint64_t>> signatures(stretches.size());
    std::map<std::vector<uint64_t>, size_t> orders;
    for (size_t k = 0; k < stretches.size(); ++k) {
      const Stretch& s = stretches[k];
      const RankFacts& rank = ranks_[parts[s.part].rank];
      for (size_t i = s.begin; i < s.end; ++i)
        signatures[k].push_back(signature_of(rank, rank.collectives[parts[s.part].runs[i]]));
      ++orders[signatures[k]];
    }
    const std::vector<uint64_t>& usual = std::ranges::max_element(orders, {}, [](const auto& o) {
                                           return std::pair(o.second, o.first.size());
                                         })->first;
    std::unordered_map<uint64_t, std::vector<uint32_t>> places;
    for (uint32_t i = 0; i < usual.size(); ++i) places[usual[i]].push_back(i);
    for (size_t k = 0; k < stretches.size(); ++k) {
      const Stretch& s = stretches[k];
      const Part& part = parts[s.part];
      const std::vector<uint64_t>& own = signatures[k];
      const bool fits = own.size() <= usual.size();
      const bool from_begin = fits && std::ranges::equal(own, std::span(usual).first(own.size())) &&
                              (own.size() == usual.size() || s.last);
      const bool to_end =
          fits && s.first && std::ranges::equal(own, std::span(usual).last(own.size()));
      std::unordered_map<uint64_t, uint32_t> count, seen;
      for (const uint64_t signature : own) ++count[signature];
      for (size_t i = 0; i < own.size(); ++i) {
        std::optional<size_t> place;
        if (from_begin) {
          place = i;
        } else if (to_end) {
          place = usual.size() - own.size() + i;
        } else if (const auto known = places.find(own[i]);
                   known != places.end() && known->second.size() == count[own[i]]) {
          place = known->second[seen[own[i]]++];
        }
        if (place)
          runs.push_back({step, static_cast<uint32_t>(*place), part.rank, part.runs[s.begin + i]});
      }
    }
  }

  void join(uint32_t g, std::vector<Run> runs) {
    MatchedGroup& group = out_.groups[g];
    size_t total = 0;
    for (const Part& part : parts_[g]) total += part.runs.size();
    std::ranges::sort(runs, {}, &Run::order);
    size_t matched = 0;
    for (size_t begin = 0; begin < runs.size();) {
      size_t end = begin + 1;
      while (end < runs.size() && runs[end].key() == runs[begin].key()) ++end;
      matched += add_matched(g, std::span(runs).subspan(begin, end - begin));
      begin = end;
    }
    group.unmatched = total - matched;
  }

  size_t add_matched(uint32_t g, std::span<const Run> runs) {
    if (runs.size() < 2) return 0;
    const auto collective = [this](const Run& run) -> const RankCollective& {
      return ranks_[run.rank].collectives[run.collective];
    };
    const uint64_t first = signature_of(ranks_[runs[0].rank], collective(runs[0]));
    const bool differs = std::ranges::any_of(runs, [&](const Run& run) {
      return signature_of(ranks_[run.rank], collective(run)) != first;
    });
    const bool is_untimed =
        std::ranges::any_of(runs, [&](const Run& run) { return is_timeless(collective(run)); });
    if (differs || is_untimed) {
      ++(differs ? out_.differing : out_.untimed);
      out_.left_out += runs.size();
      return 0;
    }
    MatchedGroup& group = out_.groups[g];
    MatchedCollective made;
    made.group = g;
    made.first_member = static_cast<uint32_t>(out_.members.size());
    made.members = static_cast<uint32_t>(runs.size());
    made.complete =
        runs.size() == (group.members.empty() ? group.ranks.size() : group.members.size());
    for (const Run& run : runs) out_.members.push_back({run.rank, run.collective});
    out_.all.push_back(made);
    ++group.collectives;
    return runs.size();
  }

  // Sends and receives: the n-th from one rank to another in a step.
  void match_pairs() {
    struct End {
      int64_t from, to, step;
      uint32_t number;
      bool receives;
      MatchedMember member;
      auto key() const { return std::tuple(from, to, step, number); }
      auto order() const { return std::tuple(from, to, step, number, receives); }
    };
    std::vector<End> ends;
    std::map<std::tuple<uint32_t, int64_t, int64_t, bool>, uint32_t> numbers;
    for (const auto& [r, i] : pairs_) {
      const RankCollective& c = ranks_[r].collectives[i];
      if (!ranks_[r].rank || !c.peer) continue;
      const int64_t own = *ranks_[r].rank;
      const bool receives = c.kind == CollectiveKind::kReceive;
      const int64_t step = c.step.value_or(-1);
      const uint32_t number = numbers[{r, *c.peer, step, receives}]++;
      ends.push_back(
          {receives ? *c.peer : own, receives ? own : *c.peer, step, number, receives, {r, i}});
    }
    if (ends.empty()) return;
    std::ranges::sort(ends, {}, &End::order);
    MatchedGroup group;
    group.name = "send and receive";
    for (size_t i = 0; i + 1 < ends.size(); ++i) {
      if (ends[i].key() != ends[i + 1].key() || ends[i].receives || !ends[i + 1].receives) continue;
      const auto collective = [this](const End& end) -> const RankCollective& {
        return ranks_[end.member.rank].collectives[end.member.collective];
      };
      if (is_timeless(collective(ends[i])) || is_timeless(collective(ends[i + 1]))) {
        ++out_.untimed;
        out_.left_out += 2;
        continue;
      }
      MatchedCollective made;
      made.group = static_cast<uint32_t>(out_.groups.size());
      made.first_member = static_cast<uint32_t>(out_.members.size());
      made.members = 2;
      out_.members.push_back(ends[i].member);
      out_.members.push_back(ends[i + 1].member);
      out_.all.push_back(made);
      ++group.collectives;
      ++i;
    }
    group.unmatched = pairs_.size() - 2 * group.collectives;
    out_.groups.push_back(std::move(group));
  }

  std::span<const RankFacts> ranks_;
  std::map<int64_t, uint32_t> by_number_;
  CollectiveMatches out_;
  std::vector<std::vector<Part>> parts_;  // by group
  std::vector<std::pair<uint32_t, uint32_t>> pairs_;
};

}  // namespace

CollectiveMatches match_collectives(std::span<const RankFacts> ranks) {
  return Matching(ranks).take();
}

}  // namespace fathom
