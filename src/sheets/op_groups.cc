#include "sheets/op_groups.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "cost/request_lengths.h"
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

std::vector<CalledOp> called_by(const SheetInput& input, EventId event) {
  std::vector<CalledOp> ops;
  const CallTree& tree = input.tree;
  const CallId call = tree.call(event);
  if (!call.valid()) return ops;
  // Costs are worked out from the first few; more than any op calls.
  constexpr size_t kMost = 1000;
  for (CallId c(call.index + 1); c < tree.subtree_end(call) && ops.size() < kMost; ++c.index) {
    const EventId each = tree.event(c);
    if (input.store.kind(each) != EventKind::kCpuOp) continue;
    if (auto args = read_op_args(input.store, input.store.args_id(each))) {
      ops.push_back({input.store.name(each), std::move(*args)});
    }
  }
  return ops;
}

// What a call costs, with all that the cost needs of the trace read once.
class CostOfCall {
 public:
  CostOfCall(const SheetInput& input, const UnifiedOp& op, CostNeeds needs)
      : args_(read_op_args(input.store, input.store.args_id(op.event))),
        kernels_(launched_kernels(input.store, op)) {
    if (op.forward.valid()) {
      forward_args_ = read_op_args(input.store, input.store.args_id(op.forward));
      question_.forward_op = input.store.name(op.forward);
    }
    if (needs.below) below_ = called_by(input, op.event);
    question_.op = op.name;
    question_.args = args_ ? &*args_ : nullptr;
    question_.forward_args = forward_args_ ? &*forward_args_ : nullptr;
    question_.kernels = kernels_;
    question_.below = below_;
  }
  CostOfCall(const CostOfCall&) = delete;
  CostOfCall& operator=(const CostOfCall&) = delete;

  std::optional<Cost> under(std::span<const std::string_view> annotations) {
    question_.annotations = annotations;
    return cost_of(question_);
  }

 private:
  std::optional<OpArgs> args_, forward_args_;
  std::vector<LaunchedKernel> kernels_;
  std::vector<CalledOp> below_;
  CostQuestion question_;
};

// Asks for the costs of calls with all that they need of the trace.
class CostAsker {
 public:
  explicit CostAsker(const SheetInput& input) : input_(input) {}

  // Calls with the same arguments cost the same, but for what the annotations around them say
  // (lengths of requests): then it is the mean of theirs.
  std::optional<Cost> cost_of_group(std::span<const UnifiedOp* const> calls);

 private:
  StringId lengths_around(EventId event);

  const SheetInput& input_;
  std::optional<Annotations> annotations_;  // made when the first cost needs them
  std::vector<std::optional<bool>> tells_;  // of lengths, by name
};

// The innermost annotation around the event that tells lengths of requests; invalid: none.
StringId CostAsker::lengths_around(EventId event) {
  if (!annotations_) {
    annotations_.emplace(input_.store);
    tells_.resize(input_.store.text_count());
  }
  for (EventId annotation : annotations_->around(event)) {
    const StringId name = input_.store.name_id(annotation);
    std::optional<bool>& tells = tells_[name.index];
    if (!tells) tells = read_batch_lengths(input_.store.text(name)).has_value();
    if (*tells) return name;
  }
  return {};
}

std::optional<Cost> CostAsker::cost_of_group(std::span<const UnifiedOp* const> calls) {
  const UnifiedOp& first = *calls.front();
  // Kernels without a model are ops of their own below one event: its arguments may be long.
  if (!first.forward.valid() && cost_function_of(first.name).empty()) return {};
  const CostNeeds needs = cost_needs(first.name);
  CostOfCall cost(input_, *calls.front(), needs);
  if (!needs.annotations) return cost.under({});
  const auto cost_under = [&](StringId annotation) {
    const std::string_view name = input_.store.text(annotation);
    return cost.under({&name, annotation.valid() ? size_t{1} : 0});
  };
  std::map<StringId, double> calls_under;  // by the annotation around them
  for (const UnifiedOp* call : calls) ++calls_under[lengths_around(call->event)];
  std::optional<Cost> mean = cost_under(lengths_around(calls.front()->event));
  if (!mean || calls_under.size() == 1) return mean;
  mean->flops = mean->bytes = 0;
  for (const auto& [annotation, count] : calls_under) {
    const std::optional<Cost> each = cost_under(annotation);
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
