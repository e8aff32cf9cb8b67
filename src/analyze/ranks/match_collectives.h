#pragma once

#include <span>

#include "analyze/ranks/rank_facts.h"

namespace fathom {

// One rank's part in a collective.
struct MatchedMember {
  uint32_t rank = 0;        // a place in the list of ranks
  uint32_t collective = 0;  // in that rank's list
};

// A collective that at least two of the ranks have.
struct MatchedCollective {
  uint32_t group = 0;                      // of CollectiveMatches::groups
  uint32_t first_member = 0, members = 0;  // by rank
  bool complete = true;                    // no member of the group lacks it
};

struct MatchedGroup {
  std::string name, description;
  std::vector<int64_t> members;           // by number; empty: not known
  std::vector<uint32_t> ranks;            // those given that have collectives in it
  size_t collectives = 0, unmatched = 0;  // matched; runs that no other rank has
  bool by_sequence = false;               // else by the order within steps
  bool on_host = false;
};

struct CollectiveMatches {
  std::vector<MatchedGroup> groups;
  std::vector<MatchedCollective> all;  // in the order of the first member's starts
  std::vector<MatchedMember> members;
  size_t runs = 0;       // of all ranks
  size_t unmatched = 0;  // of these, in no matched collective
  size_t differing = 0;  // same place in the order, but another kind, type or size
  size_t untimed = 0;    // of no or a negative duration on a rank
  size_t left_out = 0;   // runs of these two
  // Ranks that are listed as members of a group, whose traces have the group's name with another
  // list of members.
  size_t group_conflicts = 0;

  std::span<const MatchedMember> members_of(const MatchedCollective& c) const {
    return std::span(members).subspan(c.first_member, c.members);
  }
};

// By process group, by sequence number (where the traces have none, by step and order), and by
// kind, type and size. n log n in the number of collectives.
CollectiveMatches match_collectives(std::span<const RankFacts> ranks);

}  // namespace fathom
