// Passes of backward() through the same forward ops.
#include "analyze/patterns/backward_passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/finding_parts.h"
#include "analyze/patterns/pattern_finding.h"
#include "analyze/patterns/patterns.h"
#include "base/count_text.h"

namespace fathom::patterns {
namespace {

constexpr std::string_view kNode = "autograd::engine::evaluate_function: ";

bool is_node(const EventStore& store, EventId event) {
  return store.name(event).starts_with(kNode);
}

}  // namespace

BackwardPasses::BackwardPasses(const PatternInput& in) {
  find_recorded_graphs(in);
  for (CallId c(0); c.index < in.tree().size(); ++c.index)
    if (is_node(in.store(), in.tree().event(c))) add(in, c);
}

size_t BackwardPasses::of(EventId node) const {
  const auto found = pass_of_.find(node);
  return found != pass_of_.end() ? found->second : 0;
}

// Gradients of gradients (create_graph=True) need the forward ops' nodes a second time.
void BackwardPasses::find_recorded_graphs(const PatternInput& in) {
  const EventStore& store = in.store();
  for (CallId c(0); c.index < in.tree().size(); ++c.index) {
    const EventId event = in.tree().event(c);
    const AutogradFacts* facts = store.autograd(event);
    if (facts == nullptr || facts->forward_thread != 0 || is_node(store, event)) continue;
    if (in.any_around(event, "autograd::engine::evaluate_function*"))
      with_graph_.insert(in.step_of(store.start(event)));
  }
}

void BackwardPasses::add(const PatternInput& in, CallId call) {
  const EventStore& store = in.store();
  const EventId event = in.tree().event(call);
  const AutogradFacts* facts = store.autograd(event);
  if (track_ != store.track_id(event)) last_sequence_.reset();
  track_ = store.track_id(event);
  if (facts != nullptr) {
    if (!last_sequence_ || facts->sequence >= *last_sequence_) ++pass_;
    last_sequence_ = facts->sequence;
  }
  pass_of_[event] = pass_;
  if (facts == nullptr || facts->forward_thread == 0) return;
  const size_t step = in.step_of(store.start(event));
  if (with_graph_.contains(step)) return;
  size_t& times = times_[{facts->sequence, facts->forward_thread, store.name_id(event), step}];
  if (++times > 1) again_.push_back(call);
  most_times_ = std::max(most_times_, times);
}

namespace {

// Where the program calls backward() while a node runs: another thread runs the nodes.
class BackwardCallers {
 public:
  explicit BackwardCallers(const PatternInput& in) : in_(in) {
    const EventStore& store = in.store();
    for (size_t i = 0; i < store.size(); ++i) {
      const EventId e(i);
      if (store.kind(e) == EventKind::kPython &&
          store.name(e).find("run_backward") != std::string_view::npos)
        calls_.push_back(e);
    }
    std::ranges::sort(calls_, {}, [&store](EventId e) { return store.start(e); });
  }

  EventId at(Nanos when) const {
    const EventStore& store = in_.store();
    auto after =
        std::ranges::upper_bound(calls_, when, {}, [&store](EventId e) { return store.start(e); });
    for (int looked_at = 0; looked_at < 4 && after != calls_.begin(); ++looked_at)
      if (store.end(*--after) > when) return *after;
    return {};
  }

 private:
  const PatternInput& in_;
  std::vector<EventId> calls_;  // by start
};

struct RepeatedPass {
  MatchedCalls calls;
  std::vector<CoveredEvent> callers;
};

// The work of nodes that ran before.
RepeatedPass find_repeated(const PatternInput& in, const BackwardPasses& passes) {
  std::unordered_set<CallId> again(passes.again().begin(), passes.again().end());
  const BackwardCallers callers(in);
  RepeatedPass found;
  for (const AssessedCall& call : in.calls()) {
    constexpr int kNodesAround = 16;
    CallId around = in.tree().call(call.op->event);
    for (int i = 0; i < kNodesAround && around.valid() && !again.contains(around); ++i)
      around = in.tree().parent(around);
    if (!around.valid() || !again.contains(around)) continue;
    found.calls.add(call);
    const EventId caller = callers.at(in.store().start(in.tree().event(around)));
    if (caller.valid()) found.callers.push_back({caller, call.time});
  }
  return found;
}

}  // namespace

std::vector<Finding> repeated_backward(const PatternInput& in) {
  constexpr size_t kSeveral = 4;  // nodes of a step
  if (!in.has_backward()) return {};
  const BackwardPasses passes(in);
  if (passes.again().size() < kSeveral * in.steps()) return {};
  const RepeatedPass found = find_repeated(in, passes);
  const double most = found.calls.counted() + found.calls.waited();
  if (found.calls.empty() || !is_noticeable(in, most)) return {};
  PatternText text{
      FindingKind::kRepeatedBackward,
      std::string(ops_by_time(found.calls.calls()).front()->group->key.name),
      fmt::format("The backward pass runs {} times through the same forward ops",
                  passes.most_times()),
      fmt::format("{} compute gradients of forward ops a second time or more often: {}, {} of it "
                  "idle time before their launches. The graph was kept (retain_graph=True).",
                  per_step(in, passes.again().size(), "node", "nodes"),
                  micros_text(nanos_from(found.calls.seconds() + found.calls.waited())),
                  micros_text(nanos_from(found.calls.waited()))),
      Confidence::kHigh};
  Finding f = pattern_finding(in, std::move(text), found.calls,
                              {found.calls.counted(), most, "one backward pass of the sum",
                               "the same, without the idle time before the launches"});
  // Who calls backward() first, then the forward ops that it runs through.
  f.places = in.assessment().places().places_of(found.callers, nullptr, 2);
  for (Place& place : in.assessment().places().places_of(f.covered, &f.unplaced, 2))
    f.places.push_back(std::move(place));
  return {std::move(f)};
}

}  // namespace fathom::patterns
