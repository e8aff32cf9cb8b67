#include "analyze/host_waits.h"

#include <algorithm>

#include "base/sort_runs.h"

namespace fathom {
namespace {

constexpr Nanos kDrySlack{10'000};  // between the end of work and that of a wait for it

std::vector<Drain> find_drains(const SheetInput& input, const HostThreads& threads,
                               const RecordedWaits& recorded) {
  const std::vector<EventId>& waits = threads.waits();
  const EventStore& store = input.store;
  std::vector<Drain> drains;
  if (waits.empty()) return drains;
  std::vector<std::pair<Nanos, Nanos>> work;  // launch, end
  for (const EventId e : input.tree.linked())
    work.emplace_back(store.start(input.tree.event(input.tree.launch(e))), store.end(e));
  sort_runs(work, [](const auto& x, const auto& y) { return x.first < y.first; });
  Nanos pending{INT64_MIN};
  size_t next = 0;
  for (const EventId wait : waits) {
    const Nanos begin = store.start(wait), end = store.end(wait);
    for (; next < work.size() && work[next].first <= begin; ++next)
      pending = std::max(pending, work[next].second);
    if (pending.count == INT64_MIN || pending > end + kDrySlack) continue;
    // What the start-up held up is over when the steady state begins.
    if (input.scope.steady && end <= input.scope.steady->when.begin) continue;
    Nanos awaited = pending;
    if (const auto known = recorded.of_host(wait)) {
      if (!known->source.valid()) continue;
      awaited = std::min(pending, store.end(known->source));
    }
    const Nanos waited = std::min(awaited, end) - begin;
    if (waited.count <= 0) continue;  // the GPU was dry already, or the event reached
    drains.push_back({wait, end, waited,
                      threads.role(wait) == HostRole::kAllocation ? IdleCause::kAllocation
                                                                  : IdleCause::kSynchronization});
  }
  sort_runs(drains, [](const Drain& x, const Drain& y) { return x.end < y.end; });
  return drains;
}

std::unordered_set<EventId> find_waiting_ops(const SheetInput& input, const HostThreads& threads) {
  const EventStore& store = input.store;
  std::unordered_set<EventId> ops;
  if (threads.waits().empty()) return ops;
  std::vector<EventId> outermost(input.tree.size());
  for (CallId c(0); c.index < input.tree.size(); ++c.index) {
    const CallId parent = input.tree.parent(c);
    if (parent.valid()) outermost[c.index] = outermost[parent.index];
    if (!outermost[c.index].valid() && threads.is_named_op(input.tree.event(c)))
      outermost[c.index] = input.tree.event(c);
  }
  for (const EventId wait : threads.waits()) {
    const CallId call = input.tree.call(wait);
    if (threads.role(wait) != HostRole::kWait || !call.valid()) continue;
    const EventId op = outermost[call.index];
    // A program's own op may hold all of its work.
    if (op.valid() && (store.name(op).starts_with("aten::") ||
                       store.name(op).starts_with("autograd::engine::evaluate_function")))
      ops.insert(op);
  }
  return ops;
}

}  // namespace

HostWaits::HostWaits(const SheetInput& input, const HostThreads& threads)
    : recorded(input.store, input.tree),
      drains(find_drains(input, threads, recorded)),
      ops(find_waiting_ops(input, threads)) {}

}  // namespace fathom
