#include "analyze/assessment.h"

#include <algorithm>
#include <map>

#include "analyze/reference_rates.h"
#include "base/sort_runs.h"
#include "sheets/work_category.h"

namespace fathom {
namespace {

constexpr size_t kTopOps = 10;
// In a trace of long kernels the shortest says nothing of what an empty one takes.
constexpr Nanos kLongestFixedCost{5000};

struct Band {
  double above;
  std::string_view name;
};
constexpr Band kBands[] = {
    {0.8, "excellent"}, {0.6, "good"}, {0.4, "acceptable"}, {0, "needs investigation"}};

// Time at the limit and time measured, over the ops of which both are known.
struct AtLimit {
  double bound_seconds = 0, peak_seconds = 0, measured_seconds = 0;
  bool all_peaks = true;

  void add(const AssessedOp& op) {
    if (!op.efficiency) return;
    const double seconds = seconds_of(op.group->gpu.sum);
    bound_seconds += *op.efficiency * seconds;
    peak_seconds += op.of_peak.value_or(0) * seconds;
    all_peaks = all_peaks && op.of_peak;
    measured_seconds += seconds;
  }
  std::optional<double> efficiency() const {
    return measured_seconds > 0 ? std::optional(bound_seconds / measured_seconds) : std::nullopt;
  }
  std::optional<double> of_peak() const {
    if (measured_seconds <= 0 || !all_peaks) return {};
    return peak_seconds / measured_seconds;
  }
};

// Over a link between GPUs or to the host, the GPU's memory is not what limits.
bool leaves_the_gpu(const EventStore& store, const OpGroup& group) {
  if (group.cost && group.cost->spec == "link") return true;
  for (EventId kernel : group.first().kernels) {
    if (store.kind(kernel) != EventKind::kMemcpy) continue;
    const std::string_view name = store.name(kernel);
    if (name.find("HtoD") != std::string_view::npos || name.find("DtoH") != std::string_view::npos)
      return true;
  }
  return false;
}

// FP32 operands on tensor cores: the names of its kernels tell, its types do not.
bool runs_as_tf32(const EventStore& store, const AssessedOp& op) {
  return std::ranges::any_of(op.kernels, [&store](EventId kernel) {
    const std::string_view name = store.name(kernel);
    return name.find("tf32") != std::string_view::npos ||
           name.find("tensorop_s1688") != std::string_view::npos ||
           name.find("TF32") != std::string_view::npos;
  });
}

// By call, the code that called it: what is around all the ops that it is part of, such as the
// aten::to around a copy.
std::vector<CallId> find_callers(const SheetInput& input) {
  std::vector<CallId> callers(input.tree.size());
  for (CallId c(0); c.index < input.tree.size(); ++c.index) {
    const CallId parent = input.tree.parent(c);
    const bool is_part =
        parent.valid() && input.store.name(input.tree.event(parent)).starts_with("aten::");
    callers[c.index] = is_part ? callers[parent.index] : parent;
  }
  return callers;
}

// The first kernel of each name, by the time that all of the name take; a few of them.
std::vector<EventId> longest_kernels(const EventStore& store, const OpGroup& group) {
  constexpr size_t kShown = 3;
  struct Named {
    EventId first;
    Nanos time;
  };
  std::vector<Named> names;
  const auto name = [&store](const Named& n) { return store.name_id(n.first); };
  const auto add = [&](Named& to, const Named& same) {
    to.first = std::min(to.first, same.first);
    to.time += same.time;
  };
  for (const UnifiedOp* call : group.calls) {
    for (EventId kernel : call->kernels) {
      const Named next{kernel, store.duration(kernel)};
      // Most ops launch the same kernel again and again.
      if (!names.empty() && name(names.back()) == name(next)) {
        add(names.back(), next);
      } else {
        names.push_back(next);
      }
    }
  }
  std::ranges::sort(names, {}, name);
  size_t kept = 0;
  for (const Named& next : names) {
    if (kept > 0 && name(names[kept - 1]) == name(next)) {
      add(names[kept - 1], next);
    } else {
      names[kept++] = next;
    }
  }
  names.resize(kept);
  const size_t shown = std::min(kShown, names.size());
  std::ranges::partial_sort(names, names.begin() + static_cast<std::ptrdiff_t>(shown),
                            [&store](const Named& x, const Named& y) {
                              return std::tuple(y.time, store.name(x.first)) <
                                     std::tuple(x.time, store.name(y.first));
                            });
  std::vector<EventId> longest;
  for (size_t i = 0; i < shown; ++i) longest.push_back(names[i].first);
  return longest;
}

// Each dimension equal, or 1 in one of them: what elementwise ops may hand each other.
bool stretches_over(const std::vector<int64_t>& x, const std::vector<int64_t>& y) {
  const size_t common = std::min(x.size(), y.size());
  for (size_t i = 1; i <= common; ++i) {
    const int64_t p = x[x.size() - i], q = y[y.size() - i];
    if (p != q && p != 1 && q != 1) return false;
  }
  return common > 0;
}

std::vector<int64_t> largest_dims(const EventStore& store, const AssessedOp& op) {
  const auto args = read_op_args(store, store.args_id(op.group->first().event));
  std::vector<int64_t> largest;
  int64_t most = -1;
  if (!args) return largest;
  for (const ArgValue& value : args->inputs) {
    if (!value.is_tensor()) continue;
    const int64_t count = element_count(value.shape.dims).value_or(0);
    if (count > most) most = count, largest = value.shape.dims;
  }
  return largest;
}

// Elements of what a lookup in a table gives; none: it is not known.
std::optional<int64_t> elements_looked_up(const EventStore& store, const AssessedOp& op) {
  const auto args = read_op_args(store, store.args_id(op.group->first().event));
  if (!args || args->inputs.empty() || !args->inputs[0].is_tensor()) return {};
  const std::vector<int64_t>& table = args->inputs[0].shape.dims;
  for (size_t i = 1; i < args->inputs.size(); ++i) {
    if (!args->inputs[i].is_tensor()) continue;
    const auto indices = element_count(args->inputs[i].shape.dims);
    // gather is called with an index for each element.
    if (op.group->key.name == "aten::gather" || !indices || table.empty()) return indices;
    const int64_t width = table.back();
    if (table.size() != 2 || width < 1 || *indices > INT64_MAX / width) return {};
    return *indices * width;
  }
  return {};
}

// By names of ops, kernels and functions: its profiler's format is written by others too.
bool is_of_pytorch(const EventStore& store) {
  for (size_t i = 0; i < store.text_count(); ++i) {
    const std::string_view text = store.text(StringId(i));
    if (text.starts_with("aten::") || text.starts_with("torch") ||
        text.starts_with("Torch-Compiled") || text.find("at::native::") != std::string_view::npos)
      return true;
  }
  return false;
}

}  // namespace

bool is_pointwise(const AssessedOp& op) {
  return op.group->cost &&
         (op.category == "elementwise" || op.category == "reduce" || op.category == "norm" ||
          op.category == "rope") &&
         (!op.bound || !op.bound->is_compute());
}

bool is_at_usual_rate(const AssessedOp& op) {
  // Runs differ by clocks, layouts and neighbours; a quarter is within that. Other GPUs have other
  // libraries, and reach another share of their peaks.
  const double tolerance = op.usual_is_estimated ? 1.6 : 1.25;
  if (!op.usual_seconds || op.group->gpu.count == 0) return false;
  const double measured = seconds_of(op.group->gpu.sum) / static_cast<double>(op.group->gpu.count);
  return measured <= tolerance * *op.usual_seconds;
}

std::string_view rate_name_of(const Cost& cost, const Platform& platform) {
  if (cost.flops <= 0 || cost.spec.empty()) return {};
  if (const auto known = std::ranges::find(platform.specs, cost.spec, &ComputeSpec::name);
      known != platform.specs.end())
    return known->name;
  // Arithmetic on narrow elements runs on the vector units at least as fast as on fp32.
  const bool as_fp32 = cost.spec.starts_with("vector_") || cost.spec == "matrix_fp32";
  return as_fp32 && platform.find("vector_fp32") != nullptr ? "vector_fp32" : "";
}

std::optional<Bound> bound_of(const Cost& cost, const Platform* platform, RateBasis basis) {
  if (platform == nullptr || cost.bytes <= 0) return {};
  const auto rate_of = [basis](const Rate& rate) -> std::optional<double> {
    if (basis == RateBasis::kPeak) return rate.peak;
    const std::optional<Limit> limit = limit_of(rate);
    return limit ? std::optional(limit->rate) : std::nullopt;
  };
  const std::optional<double> memory = rate_of(platform->memory_bandwidth);
  if (!memory) return {};
  Bound bound;
  bound.memory_seconds = cost.bytes / *memory;
  if (cost.flops > 0 && !cost.spec.empty()) {
    const std::string_view name = rate_name_of(cost, *platform);
    const std::optional<double> rate = name.empty() ? std::nullopt : rate_of(*platform->find(name));
    if (!rate) return {};
    bound.compute_seconds = cost.flops / *rate;
  }
  return bound;
}

std::string_view efficiency_band(double efficiency) {
  for (const Band& band : kBands) {
    if (efficiency > band.above) return band.name;
  }
  return kBands[std::size(kBands) - 1].name;
}

double next_band(double efficiency) {
  for (size_t i = std::size(kBands); i-- > 0;) {
    if (kBands[i].above > efficiency) return kBands[i].above;
  }
  return 1;
}

std::vector<std::string_view> category_names() {
  return {"gemm", "sdpa_fwd",      "sdpa_bwd", "elementwise", "reduce", "batchnorm",
          "norm", "convolution",   "triton",   "moe_fused",   "rope",   "quantization",
          "ssm",  "communication", "memcpy",   "other"};
}

Assessment::Assessment(const SheetInput& input, const MeasuredOps& measured,
                       const Platform* platform)
    : input_(input),
      platform_(platform),
      setup_(input.store),
      timeline_(measure_timeline(input)),
      total_(measured.total()),
      places_(input) {
  if (is_cpu_only(input)) cpu_.emplace(input);
  host_ = measure_host_activity(input);
  const std::vector<DeviceWork> devices = work_by_device(input);
  base_ = find_time_base(input, devices);
  idle_ = explain_idle_time(input, base_, devices);
  uses_pytorch_ = is_of_pytorch(input.store);
  assess_ops(measured);
  group_categories();
  rank_ops();
  order_calls();
  find_shortest_kernel();
  count_exposed_time();
  find_runs();
}

std::span<const TopOp> Assessment::top_ops() const {
  return std::span(by_name_).first(std::min(kTopOps, by_name_.size()));
}

bool Assessment::is_setup(EventId gpu_event) const {
  const CallId launch = input_.tree.launch(gpu_event);
  if (setup_.empty() || !launch.valid() || !input_.tree.has_launches()) return false;
  const EventId call = input_.tree.event(launch);
  return setup_.contains(input_.store.track_id(call), input_.store.start(call));
}

std::string_view Assessment::vendor() const {
  if (platform_ != nullptr && !platform_->vendor.empty()) return platform_->vendor;
  const TraceMetadata& metadata = input_.store.metadata();
  if (metadata.cuda_runtime_version) return "NVIDIA";
  return metadata.hip_runtime_version ? "AMD" : "";
}

void Assessment::assess_ops(const MeasuredOps& measured) {
  WorkCategories categories(input_);
  for (const OpGroup& group : measured.groups()) {
    AssessedOp& op = ops_.emplace_back();
    op.group = &group;
    op.kernels = longest_kernels(input_.store, group);
    op.category = categories.of(group.first());
    op.share = ratio(group.gpu.sum, total_);
    if (group.cost) limit_op(op);
    if (op.efficiency) known_share_ += op.share;
  }
}

void Assessment::limit_op(AssessedOp& op) {
  const OpGroup& group = *op.group;
  if (platform_ == nullptr || group.gpu.sum.count <= 0) return;
  if (leaves_the_gpu(input_.store, group)) {
    op.no_limit =
        "part of its work crosses the link to the host or to other GPUs, whose "
        "bandwidth the platform does not list";
    return;
  }
  Cost cost = *group.cost;
  if (cost.spec == "matrix_fp32" && runs_as_tf32(input_.store, op)) cost.spec = "matrix_tf32";
  op.rate_name = rate_name_of(cost, *platform_);
  const std::optional<Bound> bound = bound_of(cost, platform_);
  if (!bound) {
    op.no_limit = "the platform has no rate for its arithmetic, or it moves no bytes";
    return;
  }
  const double measured = seconds_of(group.gpu.sum) / static_cast<double>(group.gpu.count);
  const double efficiency = bound->seconds() / measured;
  // Faster than the limit can be a cache; with an assumption in it, the cost is wrong.
  if (efficiency > 1.1 && !group.cost->assumption.empty()) {
    op.no_limit = "it ran faster than its assumed cost allows: the assumption is wrong";
    return;
  }
  constexpr double kMostFromCaches = 10;
  if (efficiency > kMostFromCaches) {
    op.no_limit = "it ran over 10 times as fast as the GPU could: its shapes or its time are wrong";
    return;
  }
  op.bound = bound;
  op.efficiency = efficiency;
  if (const auto peak = bound_of(cost, platform_, RateBasis::kPeak)) {
    op.of_peak = peak->seconds() / measured;
  }
  const UsualQuestion question{group.key.name, &cost, group.first().forward.valid()};
  if (const auto usual = usual_time(question, *platform_)) {
    op.usual_seconds = usual->seconds;
    op.usual_is_estimated = usual->estimated;
  }
}

void Assessment::group_categories() {
  std::map<std::string_view, AssessedCategory> by_name;
  std::map<std::string_view, AtLimit> at_limit;
  for (AssessedOp& op : ops_) {
    AssessedCategory& category = by_name[op.category];
    category.name = op.category;
    category.time += op.group->gpu.sum;
    category.ops.push_back(&op);
    at_limit[op.category].add(op);
  }
  for (auto& [name, category] : by_name) {
    category.share = ratio(category.time, total_);
    category.efficiency = at_limit[name].efficiency();
    category.known_time =
        at_limit[name].measured_seconds / std::max(1e-12, seconds_of(category.time));
    categories_.push_back(std::move(category));
  }
  std::ranges::sort(categories_, [](const AssessedCategory& a, const AssessedCategory& b) {
    return std::tuple(b.time, a.name) < std::tuple(a.time, b.name);
  });
  for (AssessedOp& op : ops_) {
    const auto category = std::ranges::find(categories_, op.category, &AssessedCategory::name);
    op.category_share = ratio(op.group->gpu.sum, category->time);
  }
}

void Assessment::rank_ops() {
  std::map<std::string_view, TopOp> by_op;
  std::map<std::string_view, AtLimit> at_limit;
  for (const AssessedOp& op : ops_) {
    const std::string_view name = op.group->key.name;
    TopOp& top = by_op.try_emplace(name, TopOp{name, op.category, {}, 0, 0, {}, {}}).first->second;
    top.time += op.group->gpu.sum;
    top.calls += op.group->gpu.count;
    at_limit[name].add(op);
  }
  for (auto& [name, top] : by_op) {
    top.share = ratio(top.time, total_);
    // What is known of a small part says nothing of the op.
    if (at_limit[name].measured_seconds * 2 > seconds_of(top.time)) {
      top.efficiency = at_limit[name].efficiency();
      top.of_peak = at_limit[name].of_peak();
    }
    by_name_.push_back(top);
  }
  std::ranges::sort(by_name_, [](const TopOp& a, const TopOp& b) {
    return std::tuple(b.time, a.name) < std::tuple(a.time, b.name);
  });
  for (AssessedOp& op : ops_) {
    op.is_top = std::ranges::find(top_ops(), op.group->key.name, &TopOp::name) != top_ops().end();
  }
}

void Assessment::order_calls() {
  const EventStore& store = input_.store;
  const std::vector<CallId> callers = find_callers(input_);
  for (AssessedOp& op : ops_) {
    size_t in_setup = 0;
    for (size_t i = 0; i < op.group->calls.size(); ++i) {
      const UnifiedOp* call = op.group->calls[i];
      if (setup_.contains(store.track_id(call->event), store.start(call->event))) {
        ++in_setup;
        continue;
      }
      const CallId id = input_.tree.call(call->event);
      calls_.push_back(
          {call, &op, op.group->gpu_times[i], {}, id.valid() ? callers[id.index] : CallId{}});
    }
    op.in_setup = static_cast<double>(in_setup) / static_cast<double>(op.group->calls.size());
  }
  // Ops were collected in the order of time, so their places in memory nearly are that order.
  std::ranges::sort(calls_, {}, &AssessedCall::op);
  sort_runs(calls_, [&store](const AssessedCall& x, const AssessedCall& y) {
    const EventId a = x.op->event, b = y.op->event;
    return std::tuple(store.track_id(a), store.start(a), x.op->uid) <
           std::tuple(store.track_id(b), store.start(b), y.op->uid);
  });
}

// One in fifty is shorter: a single odd event must not decide.
void Assessment::find_shortest_kernel() {
  std::vector<Nanos> kernels;
  for (EventId e : input_.selection.linked()) {
    if (input_.store.kind(e) == EventKind::kKernel) kernels.push_back(input_.store.duration(e));
  }
  if (kernels.empty()) return;
  const auto fiftieth = kernels.begin() + static_cast<std::ptrdiff_t>(kernels.size() / 50);
  std::ranges::nth_element(kernels, fiftieth);
  shortest_kernel_ = std::min(*fiftieth, kLongestFixedCost);
}

// A kernel's time counts from the moment the next work could have begun: when that was launched
// later, shortening the kernel only lengthens the wait for the host. Work that communication
// outlasts is hidden under it.
void Assessment::count_exposed_time() {
  const EventStore& store = input_.store;
  // Without launches nothing tells that the host was late.
  const auto launched_at = [&](EventId e) {
    if (!input_.tree.has_launches()) return Nanos{INT64_MIN};
    return store.end(input_.tree.event(input_.tree.launch(e)));
  };
  std::vector<EventId> work = input_.selection.linked();
  std::ranges::sort(work, [&store](EventId a, EventId b) {
    return std::tuple(store.start(a), a) < std::tuple(store.start(b), b);
  });
  std::vector<Nanos> counted(store.size()), waited(store.size());  // by event
  Nanos communication_end{INT64_MIN}, busy_until{INT64_MIN};
  for (size_t i = 0; i < work.size(); ++i) {
    const EventId e = work[i];
    const Nanos begin = store.start(e), end = store.end(e);
    const Nanos launched = launched_at(e);
    if (busy_until.count != INT64_MIN && begin > busy_until && launched > busy_until) {
      waited[e.index] = begin - busy_until;
    }
    busy_until = std::max(busy_until, end);
    if (input_.selection.is_communication(e)) communication_end = std::max(communication_end, end);
    Nanos from = begin;
    if (i + 1 < work.size()) {
      from = std::max(from, std::min(launched_at(work[i + 1]), end));
    }
    const bool hidden = !input_.selection.is_communication(e) && communication_end > end;
    counted[e.index] = hidden ? Nanos{} : end - from;
  }
  for (AssessedOp& op : ops_) {
    Nanos all, part;
    for (const UnifiedOp* call : op.group->calls) {
      for (EventId kernel : call->kernels) {
        all += store.duration(kernel);
        part += counted[kernel.index];
      }
    }
    op.counted = ratio(part, all);
  }
  for (AssessedCall& call : calls_) {
    for (EventId kernel : call.op->kernels) call.waited += waited[kernel.index];
  }
}

void Assessment::find_runs() {
  constexpr size_t kShortest = 3;
  const EventStore& store = input_.store;
  std::vector<std::optional<std::vector<int64_t>>> dims(ops_.size());  // of the largest operand
  const auto dims_of = [&](const AssessedOp& op) -> const std::vector<int64_t>& {
    auto& slot = dims[static_cast<size_t>(&op - ops_.data())];
    if (!slot) slot = largest_dims(store, op);
    return *slot;
  };
  // Lookups in a row read a table each, not what the one before has written.
  const auto is_lookup = [](const AssessedCall& call) {
    const std::string_view name = call.assessed->group->key.name;
    return name == "aten::gather" || name == "aten::index_select" || name == "aten::embedding";
  };
  // What reads its neighbours' results cannot be in one kernel with what computes them.
  const auto shifts = [](const AssessedCall& call) {
    const std::string_view name = call.assessed->group->key.name;
    return name == "aten::roll" || name == "aten::flip";
  };
  // What a lookup gives has a row for each index: of any rank, so by its size.
  const auto is_handed_on = [&](const AssessedCall& before, const AssessedCall& call) {
    if (is_lookup(before) && !is_lookup(call)) {
      const auto given = elements_looked_up(store, *before.assessed);
      if (given && given == element_count(dims_of(*call.assessed))) return true;
    }
    return stretches_over(dims_of(*before.assessed), dims_of(*call.assessed));
  };
  const auto continues = [&](const AssessedCall& before, const AssessedCall& call) {
    return before.caller == call.caller && !(is_lookup(before) && is_lookup(call)) &&
           (shifts(before) || !shifts(call)) &&
           store.track_id(before.op->event) == store.track_id(call.op->event) &&
           is_handed_on(before, call);
  };
  std::vector<size_t> in_runs(ops_.size(), 0);
  for (size_t begin = 0; begin < calls_.size();) {
    size_t end = begin + 1;
    if (is_pointwise(*calls_[begin].assessed)) {
      while (end < calls_.size() && is_pointwise(*calls_[end].assessed) &&
             continues(calls_[end - 1], calls_[end])) {
        ++end;
      }
      if (end - begin >= kShortest) runs_.push_back({begin, end});
    }
    begin = end;
  }
  for (const PointwiseRun& run : runs_) {
    for (size_t i = run.begin; i < run.end; ++i) {
      ++in_runs[static_cast<size_t>(calls_[i].assessed - ops_.data())];
    }
  }
  for (size_t i = 0; i < ops_.size(); ++i) {
    ops_[i].in_runs =
        static_cast<double>(in_runs[i]) / static_cast<double>(ops_[i].group->calls.size());
  }
}

}  // namespace fathom
