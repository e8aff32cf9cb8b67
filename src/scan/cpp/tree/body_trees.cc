#include "scan/cpp/tree/body_trees.h"

#include <algorithm>

namespace fathom::cpp {
namespace {

// Those that overlap the range. Statements stand in order: of a long block only those are visited.
void add_nodes(const CodeTree& tree, uint32_t id, size_t first, size_t last,
               std::vector<uint32_t>& out) {
  const CodeNode& at = tree[id];
  if (at.last <= first || at.first >= last) return;
  if (id != tree.root) out.push_back(id);
  auto child = at.children.begin();
  const bool in_order = at.kind == CodeKind::kBlock;
  if (in_order) {
    child = std::partition_point(at.children.begin(), at.children.end(),
                                 [&](uint32_t one) { return tree[one].last <= first; });
  }
  for (; child != at.children.end(); ++child) {
    if (in_order && tree[*child].first >= last) break;
    add_nodes(tree, *child, first, last, out);
  }
}

}  // namespace

const CodeTree& BodyTrees::of(size_t function) {
  constexpr size_t kMostNodes = 400000;  // kept at once: a generated file may have millions
  const Function& asked = definitions_.functions[function];
  const std::pair place(asked.body_first, asked.body_last);
  if (const auto known = trees_.find(place); known != trees_.end()) return known->second;
  if (nodes_ > kMostNodes) {
    trees_.clear();
    nodes_ = 0;
  }
  const bool has_body = place.second > place.first;
  CodeTree tree = read_statements(code_, place.first + (has_body ? 1 : 0), place.second);
  nodes_ += tree.nodes.size();
  return trees_.emplace(place, std::move(tree)).first->second;
}

std::vector<uint32_t> nodes_around(const CodeTree& tree, size_t first, size_t last) {
  std::vector<uint32_t> out;
  if (first >= last) return out;
  out.reserve(std::min(tree.nodes.size(), last - first));
  add_nodes(tree, tree.root, first, last, out);
  return out;
}

std::vector<uint32_t> nodes_between(const CodeTree& tree, size_t first, size_t last) {
  std::vector<uint32_t> out = nodes_around(tree, first, last);
  std::erase_if(out, [&](uint32_t id) { return tree[id].first < first; });
  return out;
}

}  // namespace fathom::cpp
