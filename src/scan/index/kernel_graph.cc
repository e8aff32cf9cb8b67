#include "scan/index/kernel_graph.h"

#include <algorithm>
#include <tuple>

#include "base/text_parts.h"

namespace fathom {
namespace {

// What tells two launches of a line apart: it may launch a kernel twice, in different ways.
auto way_of(const KernelLauncher& one) {
  return std::tie(one.at, one.template_arguments, one.grid, one.block, one.shared_memory,
                  one.stream);
}

}  // namespace

KernelGraph::Kernel KernelGraph::add(KernelFamily family, KernelFacts facts, bool followed) {
  const auto kernel = static_cast<Kernel>(nodes_.size());
  nodes_.push_back({std::move(facts), family, followed});
  const KernelFacts& kept = nodes_.back().facts;
  Namesakes& namesakes = by_name_[static_cast<size_t>(family)][kept.name];
  namesakes.kernels.push_back(kernel);
  namesakes.homes.insert(kept.at.file);
  return kernel;
}

KernelGraph::Kernel KernelGraph::add(SymbolId symbol, KernelFacts facts) {
  // Whoever fills in a name launches it by another.
  const bool is_filled_in = facts.name.find_first_of("{%") != std::string::npos;
  const Kernel kernel = add(KernelFamily::kCpp, std::move(facts), !is_filled_in);
  nodes_[kernel].symbol = symbol;
  return kernel;
}

KernelLauncher& KernelGraph::launch(Kernel kernel, KernelLauncher launcher) {
  return nodes_[kernel].edges.emplace_back(KernelEdgeKind::kLaunches, std::move(launcher)).launch;
}

void KernelGraph::take(Kernel kernel, const CodePlace& at, std::string_view by) {
  nodes_[kernel].edges.emplace_back(
      KernelEdgeKind::kTakes,
      launcher_at(at, at.line, places_.name_at(at), std::string(by), Certainty::kUnsure));
}

void KernelGraph::name(std::string_view name, KernelFamily family, uint32_t file) {
  auto& names = by_name_[static_cast<size_t>(family)];
  const auto found = names.find(name);
  if (found == names.end()) return;
  found->second.named_in.insert(file);
  found->second.named_elsewhere |= !found->second.homes.contains(file);
}

const KernelGraph::Kernel* KernelGraph::only(std::string_view name, KernelFamily family) const {
  const auto& names = by_name_[static_cast<size_t>(family)];
  const auto found = names.find(name);
  const bool one = found != names.end() && found->second.kernels.size() == 1;
  return one ? &found->second.kernels[0] : nullptr;
}

std::vector<KernelLauncher> KernelGraph::launchers(Kernel kernel) const {
  std::vector<KernelLauncher> out;
  for (const KernelEdgeKind kind : {KernelEdgeKind::kLaunches, KernelEdgeKind::kTakes}) {
    if (!out.empty()) break;
    for (const KernelEdge& edge : nodes_[kernel].edges) {
      if (edge.kind == kind) out.push_back(edge.launch);
    }
  }
  std::ranges::sort(out, [](const KernelLauncher& a, const KernelLauncher& b) {
    return std::tuple(a.at, a.line_last, way_of(a)) < std::tuple(b.at, b.line_last, way_of(b));
  });
  const auto same = [](const auto& a, const auto& b) { return way_of(a) == way_of(b); };
  out.erase(std::unique(out.begin(), out.end(), same), out.end());
  return out;
}

bool KernelGraph::is_dead(Kernel kernel) const {
  const Node& node = nodes_[kernel];
  const auto& attributes = node.facts.attributes;
  const bool c_name = contains(attributes, "extern \"C\"");
  if (!node.followed || !node.edges.empty() || c_name) return false;
  const auto& names = by_name_[static_cast<size_t>(node.family)];
  const Namesakes& namesakes = names.find(node.facts.name)->second;
  return !namesakes.named_elsewhere && !namesakes.named_in.contains(node.facts.at.file);
}

Kernels KernelGraph::all() && {
  std::vector<Node*> order;
  for (Kernel i = 0; i < nodes_.size(); ++i) {
    nodes_[i].facts.dead = is_dead(i);
    nodes_[i].facts.launchers = launchers(i);
    order.push_back(&nodes_[i]);
  }
  std::ranges::stable_sort(order, {}, [](const Node* node) {
    return std::tie(node->facts.at, node->facts.line_name, node->facts.name);
  });
  Kernels out;
  for (Node* node : order) {
    out.facts.push_back(std::move(node->facts));
    out.symbols.push_back(node->symbol);
  }
  return out;
}

}  // namespace fathom
