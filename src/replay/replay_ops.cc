#include "replay/replay_ops.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "base/check.h"
#include "base/hash.h"
#include "base/sort_runs.h"
#include "replay/hidden_lists.h"
#include "replay/python_text.h"
#include "replay/replay_arguments.h"
#include "sheets/launchers.h"
#include "sheets/unified_ops.h"

namespace fathom {
namespace {

using Reason = ReplayRefusal::Reason;

// Calls that are one case: the same operator with the same arguments, copied the same way.
struct Calls {
  EventId first;  // the operator's event
  std::vector<std::string_view> kernels;
  std::vector<Nanos> times;
  std::optional<FoundLists> found;
};
// Name, arguments, and what tells calls apart beside them: copy directions, sizes of hidden lists.
using CallsKey = std::tuple<StringId, ArgsId, std::string>;

struct CallsKeyLess {
  bool operator()(const CallsKey& a, const CallsKey& b) const {
    const auto plain = [](const CallsKey& key) {
      return std::tuple(std::get<0>(key).index, std::get<1>(key).index, std::get<2>(key));
    };
    return plain(a) < plain(b);
  }
};

struct Collected {
  ReplayOp op;
  std::map<CallsKey, Calls, CallsKeyLess> calls;
};

std::vector<std::string_view> kernel_names(const EventStore& store, std::vector<EventId> kernels) {
  std::ranges::sort(kernels, [&store](EventId a, EventId b) {
    return std::tuple(store.start(a), a) < std::tuple(store.start(b), b);
  });
  std::vector<std::string_view> names;
  for (EventId kernel : kernels) names.push_back(store.name(kernel));
  return names;
}

// The event of the operator that does the op's work: its own, or that of the outermost operator
// below it that launched all of it. Invalid where there is none.
EventId operator_event(const SheetInput& input, const UnifiedOp& op) {
  const EventStore& store = input.store;
  // A synthetic op's kernel is but one of those of the event that it stands under.
  if (op.uid >= store.entries()) return {};
  if (is_operator_name(op.name)) return op.event;
  const CallId call = input.tree.call(op.event);
  if (!call.valid()) return {};
  for (CallId c(call.index + 1); c < input.tree.subtree_end(call); ++c.index) {
    const EventId event = input.tree.event(c);
    if (store.kind(event) != EventKind::kCpuOp || !is_operator_name(store.name(event))) continue;
    const std::span<const EventId> launched = input.tree.launched_in_subtree(c);
    if (launched.size() < op.kernels.size()) continue;
    if (input.selection.count(launched) == op.kernels.size()) return event;
  }
  return {};
}

void refuse(ReplayOp& op, Reason reason, size_t calls, Nanos time) {
  auto found = std::ranges::find(op.refusals, reason, &ReplayRefusal::reason);
  if (found == op.refusals.end()) found = op.refusals.insert(found, ReplayRefusal{reason, 0, {}});
  found->calls += calls;
  found->time += time;
}

// Adds one call to those with the same arguments.
void collect_call(const SheetInput& input, const HiddenLists& hidden, EventId event,
                  const std::vector<EventId>& kernels, Nanos time, Collected& collected) {
  const EventStore& store = input.store;
  std::vector<std::string_view> names = kernel_names(store, kernels);
  std::string beside = copy_directions(names);
  std::optional<FoundLists> found = hidden.find(event, kernels);
  if (found) beside += lists_text(*found);
  Calls& calls = collected.calls[{store.name_id(event), store.args_id(event), beside}];
  if (calls.times.empty()) {
    calls.first = event;
    calls.kernels = std::move(names);
    calls.found = std::move(found);
  }
  calls.times.push_back(time);
}

std::vector<Collected> collect(const SheetInput& input, const HiddenLists& hidden,
                               std::span<const std::string_view> wanted) {
  std::vector<Collected> all;
  std::unordered_map<std::string, size_t, TableHash> index;
  for (const UnifiedOp& op : find_unified_ops(input, find_launchers(input))) {
    if (!wanted.empty() && std::ranges::find(wanted, op.name) == wanted.end()) continue;
    const auto [found, is_new] = index.try_emplace(op.name, all.size());
    if (is_new) all.emplace_back().op.name = op.name;
    Collected& collected = all[found->second];
    const Nanos time = busy_time(input.store, op.kernels);
    ++collected.op.calls;
    collected.op.time += time;
    const EventId event = operator_event(input, op);
    if (!event.valid()) {
      refuse(collected.op, Reason::kNoOperator, 1, time);
      continue;
    }
    collect_call(input, hidden, event, op.kernels, time, collected);
  }
  return all;
}

// Copies of weights and of their gradients, which the cache has lost by then. Other ops name the
// argument that is a weight.
void mark_parameters(const HiddenLists& hidden, ReplayArguments& made) {
  for (ReplayArgument& argument : made.all) {
    for (ReplayTensor& tensor : argument.tensors)
      tensor.parameter = hidden.is_parameter(tensor.dims);
  }
}

void add_case(const EventStore& store, const HiddenLists& hidden, Calls calls, ReplayOp& op) {
  const TimeStatistics time = summarize(std::move(calls.times));
  std::optional<OpArgs> recorded = read_op_args(store, store.args_id(calls.first));
  if (!recorded) return refuse(op, Reason::kNoShapes, time.count, time.sum);
  const std::string_view name = store.name(calls.first);
  auto arguments = replay_arguments(name, *recorded, calls.found, calls.kernels);
  if (const auto* reason = std::get_if<Reason>(&arguments))
    return refuse(op, *reason, time.count, time.sum);
  ReplayArguments& made = std::get<ReplayArguments>(arguments);
  if (name == "aten::copy_") mark_parameters(hidden, made);
  op.cases.push_back({std::string(name), std::move(made.all), std::move(*recorded),
                      made.list_type_known, calls.found.has_value(),
                      std::vector<std::string>(calls.kernels.begin(), calls.kernels.end()), time});
}

}  // namespace

ReplayOps find_replay_ops(const SheetInput& input, std::span<const std::string_view> wanted) {
  ReplayOps all;
  const HiddenLists hidden(input);
  for (Collected& collected : collect(input, hidden, wanted)) {
    // By their first event, so that cases with equal times keep the trace's order.
    std::vector<Calls> in_order;
    for (auto& [key, calls] : collected.calls) in_order.push_back(std::move(calls));
    std::ranges::sort(in_order, {}, &Calls::first);
    for (Calls& calls : in_order) add_case(input.store, hidden, std::move(calls), collected.op);
    sort_runs(collected.op.cases,
              [](const ReplayCase& a, const ReplayCase& b) { return a.time.sum > b.time.sum; });
    all.whole += collected.op.time;
    all.ops.push_back(std::move(collected.op));
  }
  sort_runs(all.ops, [](const ReplayOp& a, const ReplayOp& b) { return a.time > b.time; });
  return all;
}

std::string_view describe(Reason reason) {
  switch (reason) {
    case Reason::kNoOperator:
      return "is not an operator that PyTorch can run";
    case Reason::kNoShapes:
      return "has no shapes";
    case Reason::kListLeftOut:
      return "has lists of more than 30 tensors, whose shapes PyTorch does not record";
    case Reason::kBadShape:
      return "has tensors whose size, strides or type make no sense";
  }
  CHECK(false);
}

}  // namespace fathom
