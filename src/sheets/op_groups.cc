#include "sheets/op_groups.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "tree/annotations.h"

namespace fathom {
namespace {

std::vector<LaunchedKernel> launched_kernels(const EventStore& store, const UnifiedOp& op) {
  std::vector<LaunchedKernel> kernels;
  for (EventId kernel : op.kernels) {
    const GpuWork& work = store.gpu_work(kernel);
    kernels.push_back({store.name(kernel), work.grid, work.block});
  }
  return kernels;
}

// Asks for the costs of calls with all that they need of the trace.
class CostAsker {
 public:
  explicit CostAsker(const SheetInput& input) : input_(input) {}

  // Calls with the same arguments cost the same, but for what the annotations around them say
  // (lengths of requests): then it is the mean of theirs.
  std::optional<Cost> cost_of_group(std::span<const UnifiedOp* const> calls);

 private:
  std::optional<Cost> ask(const UnifiedOp& op, CostNeeds needs,
                          std::span<const std::string_view> annotations) const;
  std::vector<CalledOp> called_by(EventId event) const;
  std::vector<std::string_view> annotations_around(EventId event);

  const SheetInput& input_;
  std::optional<Annotations> annotations_;  // made when the first cost needs them
};

std::vector<CalledOp> CostAsker::called_by(EventId event) const {
  std::vector<CalledOp> ops;
  const CallTree& tree = input_.tree;
  const CallId call = tree.call(event);
  if (!call.valid()) return ops;
  for (CallId c(call.index + 1); c < tree.subtree_end(call); ++c.index) {
    const EventId each = tree.event(c);
    if (input_.store.kind(each) != EventKind::kCpuOp) continue;
    if (auto args = read_op_args(input_.store, input_.store.args_id(each))) {
      ops.push_back({input_.store.name(each), std::move(*args)});
    }
  }
  return ops;
}

std::vector<std::string_view> CostAsker::annotations_around(EventId event) {
  if (!annotations_) annotations_.emplace(input_.store);
  return annotations_->around(event);
}

std::optional<Cost> CostAsker::ask(const UnifiedOp& op, CostNeeds needs,
                                   std::span<const std::string_view> annotations) const {
  const EventStore& store = input_.store;
  const std::optional<OpArgs> args = read_op_args(store, store.args_id(op.event));
  const std::optional<OpArgs> forward_args =
      op.forward.valid() ? read_op_args(store, store.args_id(op.forward)) : std::nullopt;
  const std::vector<LaunchedKernel> kernels = launched_kernels(store, op);
  const std::vector<CalledOp> below = needs.below ? called_by(op.event) : std::vector<CalledOp>{};
  CostQuestion question;
  question.op = op.name;
  question.args = args ? &*args : nullptr;
  if (op.forward.valid()) question.forward_op = store.name(op.forward);
  question.forward_args = forward_args ? &*forward_args : nullptr;
  question.kernels = kernels;
  question.annotations = annotations;
  question.below = below;
  return cost_of(question);
}

std::optional<Cost> CostAsker::cost_of_group(std::span<const UnifiedOp* const> calls) {
  const CostNeeds needs = cost_needs(calls.front()->name);
  if (!needs.annotations) return ask(*calls.front(), needs, {});
  std::map<std::vector<std::string_view>, double> calls_under;  // by the annotations around them
  for (const UnifiedOp* call : calls) ++calls_under[annotations_around(call->event)];
  std::optional<Cost> mean = ask(*calls.front(), needs, annotations_around(calls.front()->event));
  if (!mean || calls_under.size() == 1) return mean;
  mean->flops = mean->bytes = 0;
  for (const auto& [annotations, count] : calls_under) {
    const std::optional<Cost> each = ask(*calls.front(), needs, annotations);
    if (!each) return {};  // a mean of some would pass for the mean of all
    const double share = count / static_cast<double>(calls.size());
    mean->flops += each->flops * share;
    mean->bytes += each->bytes * share;
  }
  mean->assumption = "the mean of calls under different annotations";
  return mean;
}

}  // namespace

MeasuredOps::MeasuredOps(const SheetInput& input, const std::vector<Launcher>& launchers)
    : ops_(find_unified_ops(input, launchers)) {
  std::unordered_map<OpKey, size_t, OpKeyHash> index;
  std::vector<std::vector<Nanos>> cpu;
  for (const UnifiedOp& op : ops_) {
    const OpKey key = op_key(input.store, op.event, op.name, op.category);
    const auto [found, is_new] = index.try_emplace(key, groups_.size());
    if (is_new) {
      groups_.push_back({key, {}, {}, {}, {}, {}});
      cpu.emplace_back();
    }
    OpGroup& group = groups_[found->second];
    group.calls.push_back(&op);
    group.gpu_times.push_back(busy_time(input.store, op.kernels));
    cpu[found->second].push_back(input.store.duration(op.event));
  }
  CostAsker asker(input);
  for (size_t i = 0; i < groups_.size(); ++i) {
    OpGroup& group = groups_[i];
    group.cpu = summarize(std::move(cpu[i]));
    group.gpu = summarize(group.gpu_times);
    group.cost = asker.cost_of_group(group.calls);
    total_ += group.gpu.sum;
  }
  std::ranges::sort(groups_, [](const OpGroup& a, const OpGroup& b) {
    return std::tuple(b.gpu.sum, a.first().uid) < std::tuple(a.gpu.sum, b.first().uid);
  });
}

std::optional<RateStatistics> summarize_rates(double amount, std::span<const Nanos> times) {
  std::vector<double> rates;
  for (Nanos time : times) {
    if (time.count > 0) rates.push_back(amount / (static_cast<double>(time.count) / 1e9));
  }
  if (rates.empty()) return {};
  std::ranges::sort(rates);
  const auto n = static_cast<double>(rates.size());
  double sum = 0, squares = 0;
  for (double rate : rates) sum += rate;
  const double mean = sum / n;
  for (double rate : rates) squares += (rate - mean) * (rate - mean);
  const size_t middle = rates.size() / 2;
  RateStatistics s{mean, rates[middle], rates.front(), rates.back(), {}};
  if (rates.size() % 2 == 0) s.median = (s.median + rates[middle - 1]) / 2;
  if (rates.size() > 1) s.sample_deviation = std::sqrt(squares / (n - 1));
  return s;
}

}  // namespace fathom
