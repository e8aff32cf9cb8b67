#include "analyze/gradients.h"

#include <algorithm>

#include "tree/forward_backward.h"

namespace fathom {

Gradients::Gradients(const SheetInput& input) : input_(input) {
  for (const auto& [node, forward] : link_backward_to_forward(input.store)) {
    const Link link{input.tree.call(forward), input.tree.call(node)};
    if (link.forward.valid() && link.node.valid()) links_.push_back(link);
  }
  std::ranges::sort(links_, [](const Link& x, const Link& y) {
    return std::tie(x.forward, x.node) < std::tie(y.forward, y.node);
  });
}

std::vector<EventId> Gradients::of(CallId call) const {
  std::vector<EventId> work;
  if (!call.valid()) return work;
  const CallId end = input_.tree.subtree_end(call);
  for (auto at = std::ranges::lower_bound(links_, call, {}, &Link::forward);
       at != links_.end() && at->forward < end; ++at) {
    // Nodes may nest without end; a gradient has a few kernels.
    constexpr size_t kMost = 64;
    const auto launched = input_.selection.among(input_.tree.launched_in_subtree(at->node));
    const auto shown = launched.first(std::min(kMost, launched.size()));
    work.insert(work.end(), shown.begin(), shown.end());
  }
  return work;
}

}  // namespace fathom
