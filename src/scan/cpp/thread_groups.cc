#include <array>

#include "base/text_parts.h"
#include "scan/cpp/code_structures.h"

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

// The group among the tokens of a type or a value. Longer ones are read up to a limit: lambdas and
// assignments stand in each other.
std::string_view group_between(const TokenList& source, size_t first, size_t last) {
  constexpr size_t kMostTokens = 200;
  for (size_t i = first; i < std::min(last, first + kMostTokens); ++i) {
    if (!source.is_name(i)) continue;
    const std::string_view structure = structure_of(kGroups, source.at(i));
    if (!structure.empty()) return structure;
  }
  return {};
}

class GroupBarriers {
 public:
  GroupBarriers(const NodeRange& nodes, std::vector<StructureHit>& out)
      : nodes_(nodes), source_(nodes.source), out_(out) {}

  void run() {
    for (const uint32_t id : nodes_.order) {
      const CodeNode& node = nodes_[id];
      if (node.kind == CodeKind::kCall && !node.children.empty()) call(node);
      if (node.kind == CodeKind::kDeclare) {
        declarators(node);
      } else if (node.kind == CodeKind::kAssign && node.text == "=") {
        declared(nodes_[node.children[0]].text, node.first, node.last);
      }
    }
  }

 private:
  void declarators(const CodeNode& node) {
    if (node.children.empty()) return;
    const std::string_view type =
        group_between(source_, node.first, nodes_[node.children[0]].first);
    for (const uint32_t child : node.children) {
      const CodeNode& one = nodes_[child];
      if (type.empty()) {
        declared(one.text, one.first, one.last);
      } else {
        groups_[one.text] = type;
      }
    }
  }

  void declared(std::string_view name, size_t first, size_t last) {
    const std::string_view structure = group_between(source_, first, last);
    if (!structure.empty()) groups_[name] = structure;
  }

  void call(const CodeNode& node) {
    const CodeNode& callee = nodes_[node.children[0]];
    if (callee.kind == CodeKind::kMember && callee.text == "sync") method(callee);
    const bool function = callee.kind == CodeKind::kName &&
                          (callee.text == "cg::sync" || callee.text == "cooperative_groups::sync");
    if (!function || node.children.size() != 2) return;
    const CodeNode& object = nodes_[node.children[1]];  // cg::sync(block)
    if (object.kind == CodeKind::kName)
      barrier(object.text, callee.last - 1, source_.source(node.first, node.last));
  }

  // block.sync(), cg::this_grid().sync()
  void method(const CodeNode& callee) {
    const size_t sync = callee.last - 1;
    const CodeNode& object = nodes_[callee.children[0]];
    if (!source_.is(sync - 1, ".")) return;
    if (object.kind == CodeKind::kName) return barrier(object.text, sync, object.text + ".sync()");
    if (object.kind != CodeKind::kCall || object.children.size() != 1) return;
    const size_t made = nodes_[object.children[0]].last - 1;
    add(structure_of(kGroups, source_.at(made)), sync, source_.source(made, sync) + "sync()",
        Certainty::kCertain);
  }

  void barrier(std::string_view object, size_t at, std::string text) {
    const auto known = groups_.find(object);
    const std::string_view structure =
        known != groups_.end() ? known->second : parameter_group(object);
    if (!structure.empty()) return add(structure, at, std::move(text), Certainty::kCertain);
    add(structure_of(kUsualNames, object), at, std::move(text), Certainty::kLikely);
  }

  std::string_view parameter_group(std::string_view name) const {
    const std::string_view parameters = nodes_.range.around.parameters;
    if (!holds(parameters, name)) return {};
    for (const CodeParameter& one : code_parameters(parameters)) {
      if (one.name != name) continue;
      const TokenList type = lex(one.type);
      return group_between(type, 0, type.size());
    }
    return {};
  }

  void add(std::string_view structure, size_t at, std::string text, Certainty certainty) {
    if (!structure.empty()) out_.push_back({structure, std::move(text), at, certainty});
  }

  const NodeRange& nodes_;
  const TokenList& source_;
  std::vector<StructureHit>& out_;
  std::map<std::string_view, std::string_view> groups_;  // names that were given one
};

}  // namespace

void find_group_barriers(const NodeRange& nodes, std::vector<StructureHit>& out) {
  GroupBarriers(nodes, out).run();
}

}  // namespace fathom::cpp
