#include <array>

#include "scan/cpp/code_structures.h"
#include "scan/cpp/token_pattern.h"

namespace fathom::cpp {
namespace {

// What an object of cooperative groups stands for: the structure that its barrier is.
struct GroupName {
  std::string_view name, structure;
};

// Types and functions of cooperative groups; tiles and coalesced threads lie within a warp.
constexpr auto kGroups = std::to_array<GroupName>({{"thread_block", "block_group_sync"},
                                                   {"this_thread_block", "block_group_sync"},
                                                   {"grid_group", "grid_group_sync"},
                                                   {"this_grid", "grid_group_sync"},
                                                   {"thread_block_tile", "warp_group_sync"},
                                                   {"tiled_partition", "warp_group_sync"},
                                                   {"coalesced_group", "warp_group_sync"},
                                                   {"coalesced_threads", "warp_group_sync"},
                                                   {"cluster_group", "cluster_group_sync"},
                                                   {"this_cluster", "cluster_group_sync"}});

// What people call a group whose declaration is not seen.
constexpr auto kUsualNames = std::to_array<GroupName>({{"grid", "grid_group_sync"},
                                                       {"grid_group", "grid_group_sync"},
                                                       {"cg_grid", "grid_group_sync"},
                                                       {"block", "block_group_sync"},
                                                       {"cta", "block_group_sync"},
                                                       {"thread_block", "block_group_sync"},
                                                       {"tb", "block_group_sync"},
                                                       {"warp", "warp_group_sync"}});

template <size_t kCount>
std::string_view structure_of(const std::array<GroupName, kCount>& names, std::string_view name) {
  for (const GroupName& group : names) {
    if (group.name == name) return group.structure;
  }
  return {};
}

// The group among the tokens of a declaration, which its type or its value names.
std::string_view group_between(const TokenList& source, size_t first, size_t last) {
  for (size_t i = first; i < last; ++i) {
    if (!source.is_name(i)) continue;
    const std::string_view structure = structure_of(kGroups, source.at(i));
    if (!structure.empty()) return structure;
  }
  return {};
}

class GroupBarriers {
 public:
  GroupBarriers(const TokenRange& range, std::vector<StructureHit>& out)
      : range_(range), source_(range.source), out_(out) {}

  void run() {
    for (size_t i = range_.first + 2; i + 1 < range_.last; ++i) {
      if (!source_.is(i, "sync") || !source_.is(i + 1, "(")) continue;
      if (source_.is(i - 1, ".")) method(i);
      if (source_.is(i - 1, "::") &&
          (source_.is(i - 2, "cg") || source_.is(i - 2, "cooperative_groups"))) {
        function(i);
      }
    }
  }

 private:
  // block.sync(), cg::this_grid().sync()
  void method(size_t at) {
    size_t object = at - 2;
    if (source_.is(object, ")") && object >= range_.first + 2 && source_.is(object - 1, "(")) {
      object -= 2;
      add(structure_of(kGroups, source_.at(object)), at, source_.source(object, at) + "sync()",
          Certainty::kCertain);
      return;
    }
    if (source_.is_name(object)) {
      object_barrier(object, at, std::string(source_.at(object)) + ".sync()");
    }
  }

  // cg::sync(block)
  void function(size_t at) {
    if (source_.is_name(at + 2) && source_.is(at + 3, ")")) {
      object_barrier(at + 2, at, source_.source(at - 2, at + 4));
    }
  }

  void object_barrier(size_t object, size_t at, std::string text) {
    std::string_view structure = declared_group(object);
    if (!structure.empty()) return add(structure, at, std::move(text), Certainty::kCertain);
    structure = structure_of(kUsualNames, source_.at(object));
    add(structure, at, std::move(text), Certainty::kLikely);
  }

  // The last declaration before the barrier, or the parameter of that name.
  std::string_view declared_group(size_t object) const {
    const std::string_view name = source_.at(object);
    for (size_t i = object; i-- > range_.first + 1;) {
      if (source_.at(i) != name) continue;
      const bool declares =
          source_.is(i + 1, "=") || source_.is(i + 1, "(") || source_.is(i + 1, "{");
      if (!declares) continue;
      size_t begin = i;
      while (begin > range_.first && !source_.is(begin - 1, ";") && !source_.is(begin - 1, "{") &&
             !source_.is(begin - 1, "}")) {
        --begin;
      }
      const std::string_view structure =
          group_between(source_, begin, expression_end(range_, i + 1));
      if (!structure.empty()) return structure;
    }
    return parameter_group(name);
  }

  std::string_view parameter_group(std::string_view name) const {
    if (range_.around.parameters.find(name) == std::string_view::npos) return {};
    const TokenList list = lex(range_.around.parameters);
    size_t begin = 0;
    for (size_t i = 0; i < list.size(); ++i) {
      if (list.is(i, "<")) i = closing_angle_near(list, i).value_or(i);
      if (list.is(i, ",")) begin = i + 1;
      if (list.at(i) == name && (i + 1 == list.size() || list.is(i + 1, ","))) {
        return group_between(list, begin, i);
      }
    }
    return {};
  }

  void add(std::string_view structure, size_t at, std::string text, Certainty certainty) {
    if (!structure.empty()) out_.push_back({structure, std::move(text), at, certainty});
  }

  const TokenRange& range_;
  const TokenList& source_;
  std::vector<StructureHit>& out_;
};

}  // namespace

void find_group_barriers(const TokenRange& range, std::vector<StructureHit>& out) {
  GroupBarriers(range, out).run();
}

}  // namespace fathom::cpp
