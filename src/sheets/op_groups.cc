#include "sheets/op_groups.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

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

std::optional<Cost> cost_of_call(const EventStore& store, const UnifiedOp& op) {
  const std::optional<OpArgs> args = read_op_args(store, store.args_id(op.event));
  const std::optional<OpArgs> forward_args =
      op.forward.valid() ? read_op_args(store, store.args_id(op.forward)) : std::nullopt;
  const std::vector<LaunchedKernel> kernels = launched_kernels(store, op);
  CostQuestion question;
  question.op = op.name;
  question.args = args ? &*args : nullptr;
  if (op.forward.valid()) question.forward_op = store.name(op.forward);
  question.forward_args = forward_args ? &*forward_args : nullptr;
  question.kernels = kernels;
  return cost_of(question);
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
  for (size_t i = 0; i < groups_.size(); ++i) {
    OpGroup& group = groups_[i];
    group.cpu = summarize(std::move(cpu[i]));
    group.gpu = summarize(group.gpu_times);
    group.cost = cost_of_call(input.store, group.first());
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
