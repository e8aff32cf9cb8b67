// Findings about the GPU as a whole: short kernels, and what is done twice.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/advice.h"
#include "analyze/analyses.h"
#include "analyze/finding_parts.h"
#include "analyze/priority.h"
#include "base/count_text.h"

namespace fathom::analyses {
namespace {

constexpr double kNoticeable = 0.05;  // of the wall time

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// At most all of some time; how much of it remains when the cause is gone, a trace does not tell.
void project_removal(const Assessment& a, Finding& f) {
  f.share = ratio(f.time, a.length());
  f.projections = {{"none of this time left (upper bound)", {}, f.share}};
  f.saving_at_most = f.time;
}

}  // namespace

std::vector<Finding> short_kernels(const Assessment& a) {
  constexpr Nanos kShort{10'000};
  constexpr size_t kMany = 100;
  const EventStore& store = a.input().store;
  Nanos time, all;
  size_t count = 0, kernels = 0;
  std::vector<CoveredEvent> covered;
  for (EventId e : a.input().selection.linked()) {
    if (store.kind(e) != EventKind::kKernel || a.is_setup(e)) continue;
    ++kernels;
    all += store.duration(e);
    if (store.duration(e) >= kShort) continue;
    ++count;
    time += store.duration(e);
    covered.push_back({e, store.duration(e)});
  }
  if (count < kMany || ratio(time, all) < 0.25) return {};
  Finding f;
  f.kind = FindingKind::kShortKernels;
  f.subject = "kernels under 10 µs";
  f.time = time;
  f.title = "Many short kernels: launch overhead dominates";
  f.issue = fmt::format("{} of {} kernels take less than 10 µs, {} of all kernel time.", count,
                        kernels, percent_text(ratio(time, all)));
  advise(a, f, traits_of(a));
  f.confidence = Confidence::kMedium;
  f.share = ratio(time, a.length());
  // What a kernel costs before it does anything, for all of them but the few that would remain.
  const Nanos fixed{std::min(time.count, a.shortest_kernel().count * static_cast<int64_t>(count))};
  f.saving_at_most = fixed;
  f.projections = {
      {"no fixed cost per kernel", {time.count - fixed.count}, ratio(fixed, a.length())}};
  rate_pattern(f, false);
  f.covered = std::move(covered);
  return {f};
}

namespace {

// The forward pass inside of a gradient's node: work that a checkpoint's own node launches outside
// of the gradients below it, or ops that record the graph anew. Gradients themselves do not.
bool is_checkpoint_node(std::string_view name) {
  return contains(name, "Checkpoint") && contains(name, "Backward");
}

struct Recomputed {
  Nanos time;
  size_t regions = 0;
  EventId example;
  std::vector<CoveredEvent> covered;
  bool has_node = false, has_layer = false;  // a node of a checkpoint; ops that layers call

  // What the call launches, with all below it or by itself.
  Nanos add(const Assessment& a, std::span<const EventId> launched) {
    Nanos added;
    for (EventId e : launched) {
      if (!a.input().selection.contains(e)) continue;
      added += a.input().store.duration(e);
      covered.push_back({e, a.input().store.duration(e)});
    }
    time += added;
    return added;
  }
};

void add_checkpoint_node(const Assessment& a, CallId node, Recomputed& found) {
  const CallTree& tree = a.input().tree;
  Nanos forward;
  for (CallId c(node.index + 1); c < tree.subtree_end(node);) {
    // The gradients themselves run in nodes of their own, below.
    const std::string_view name = a.input().store.name(tree.event(c));
    if (contains(name, "Backward") && !is_checkpoint_node(name)) {
      c = tree.subtree_end(c);
      continue;
    }
    forward += found.add(a, tree.launched_by(c));
    ++c.index;
  }
  if (forward.count == 0) return;
  found.has_node = true;
  ++found.regions;
  if (!found.example.valid()) found.example = tree.event(node);
}

// Ops that layers call and formulas of gradients do not.
bool is_layer(std::string_view op) {
  constexpr std::string_view kLayers[] = {
      "aten::linear",     "aten::layer_norm", "aten::group_norm",
      "aten::batch_norm", "aten::rms_norm",   "aten::embedding",
      "aten::dropout",    "aten::conv1d",     "aten::conv2d",
      "aten::conv3d",     "aten::gelu",       "aten::silu",
      "aten::max_pool2d", "aten::relu",       "aten::scaled_dot_product_attention"};
  return std::ranges::find(kLayers, op) != std::end(kLayers);
}

// A checkpoint without a node of its own (use_reentrant=False) runs when a gradient asks for what
// was not saved.
void add_ops_with_graph(const Assessment& a, CallId node, Recomputed& found) {
  const CallTree& tree = a.input().tree;
  const EventStore& store = a.input().store;
  Nanos forward;
  bool has_layer = false;
  for (CallId c(node.index + 1); c < tree.subtree_end(node);) {
    const AutogradFacts* facts = store.autograd(tree.event(c));
    has_layer = has_layer || (facts != nullptr && is_layer(store.name(tree.event(c))));
    if (facts == nullptr || facts->forward_thread != 0) {
      ++c.index;
      continue;
    }
    forward += found.add(a, tree.launched_in_subtree(c));
    c = tree.subtree_end(c);
  }
  if (forward.count == 0) return;
  found.has_layer = found.has_layer || has_layer;
  ++found.regions;
  if (!found.example.valid()) found.example = tree.event(node);
}

// Gradients of gradients record a graph in the backward pass, too. A checkpoint runs layers there,
// from PyTorch's file of checkpoints.
bool is_from_checkpoint(const Assessment& a, const Recomputed& found) {
  if (found.has_node) return true;
  if (!found.has_layer) return false;
  if (!a.places().has_frames()) return true;
  const EventStore& store = a.input().store;
  for (size_t i = 0; i < store.text_count(); ++i)
    if (contains(store.text(StringId(i)), "utils/checkpoint.py(")) return true;
  return false;
}

}  // namespace

std::vector<Finding> recompute(const Assessment& a) {
  const EventStore& store = a.input().store;
  const CallTree& tree = a.input().tree;
  Recomputed found;
  for (size_t i = 0; i < tree.size();) {
    const CallId node(i);
    const std::string_view name = store.name(tree.event(node));
    if (is_checkpoint_node(name)) {
      add_checkpoint_node(a, node, found);
      i = tree.subtree_end(node).index;
    } else if (name.starts_with("autograd::engine::evaluate_function")) {
      add_ops_with_graph(a, node, found);
      i = tree.subtree_end(node).index;
    } else {
      ++i;
    }
  }
  const Nanos time = found.time;
  const EventId example = found.example;
  if (ratio(time, a.length()) < kNoticeable || !is_from_checkpoint(a, found)) return {};
  Finding f;
  f.kind = FindingKind::kRecompute;
  f.subject = store.name(example);
  f.time = time;
  f.title = "Activation checkpointing repeats the forward pass";
  f.issue = fmt::format("{} run a part of the forward pass a second time, for {}.",
                        counted(found.regions, "gradient"), micros_text(time));
  advise(a, f, {});
  f.confidence = Confidence::kHigh;
  project_removal(a, f);
  rate_pattern(f, false);
  f.call_stack = call_stack_of(a.input(), example);
  f.covered = std::move(found.covered);
  return {f};
}

}  // namespace fathom::analyses
