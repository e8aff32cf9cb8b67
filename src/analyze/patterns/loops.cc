// Work that runs one by one and could run at once: parameters of an optimizer, products of a loop.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/finding_parts.h"
#include "analyze/patterns/pattern_finding.h"
#include "analyze/patterns/patterns.h"
#include "base/count_text.h"

namespace fathom::patterns {
namespace {

// torch.optim wraps step() into a range of this name.
constexpr std::string_view kOptimizerStep = "Optimizer.step#";

// Times in which an optimizer's step runs on a thread, in order.
class OptimizerSteps {
 public:
  explicit OptimizerSteps(const EventStore& store) {
    std::vector<bool> named(store.text_count());
    for (size_t i = 0; i < named.size(); ++i) {
      named[i] = store.text(StringId(i)).starts_with(kOptimizerStep);
    }
    for (size_t i = 0; i < store.size(); ++i) {
      const EventId e(i);
      const EventKind kind = store.kind(e);
      if (kind != EventKind::kCpuOp && kind != EventKind::kAnnotation) continue;
      if (!store.name_id(e).valid() || !named[store.name_id(e).index]) continue;
      spans_.push_back({store.track_id(e), store.start(e), store.end(e)});
    }
    std::ranges::sort(spans_, [](const Span& x, const Span& y) {
      return std::tie(x.track, x.begin) < std::tie(y.track, y.begin);
    });
  }
  bool contains(TrackId track, Nanos time) const {
    auto later = std::ranges::upper_bound(spans_, std::tuple(track, time), {}, [](const Span& s) {
      return std::tuple(s.track, s.begin);
    });
    if (later == spans_.begin()) return false;
    const Span& span = *std::prev(later);
    return span.track == track && time < span.end;
  }

 private:
  struct Span {
    TrackId track;
    Nanos begin, end;
  };
  std::vector<Span> spans_;
};

}  // namespace

namespace {

// The calls of the host go with the work: most of a loop's time is often theirs.
Finding with_host_calls(const MatchedCalls& calls, Finding finding) {
  for (const AssessedCall* call : calls.calls()) cover_beside(finding, call->op->event);
  return finding;
}

bool changes_in_place(std::string_view op) {
  return op.ends_with('_') && !op.ends_with("__") && op != "aten::copy_";
}

// The calls that update single parameters: inside of an optimizer's step, or a long run of updates
// in place with no other work between, as a hand-written optimizer makes it.
std::vector<bool> find_updates(const PatternInput& in) {
  constexpr size_t kLongRun = 16;
  const OptimizerSteps steps(in.store());
  const std::vector<AssessedCall>& calls = in.calls();
  std::vector<bool> updates(calls.size());
  for (size_t begin = 0; begin < calls.size();) {
    size_t end = begin, in_place = 0, moments = 0;
    while (end < calls.size() && in.has(calls[end], Role::kUpdate) &&
           in.same_thread(calls[begin], calls[end])) {
      const std::string_view name = calls[end].assessed->group->key.name;
      in_place += changes_in_place(name);
      moments += name == "aten::addcdiv_" || name == "aten::addcmul_" || name == "aten::lerp_";
      ++end;
    }
    const bool by_hand = end - begin >= kLongRun && in_place * 2 >= end - begin && moments > 0;
    for (size_t i = begin; i < end; ++i) {
      const EventId event = calls[i].op->event;
      updates[i] = by_hand || steps.contains(in.store().track_id(event), in.store().start(event));
    }
    begin = std::max(end, begin + 1);
  }
  return updates;
}

// What a fused step moves: Adam reads parameter, gradient and two moments and writes all but the
// gradient; SGD with momentum has one moment.
double fused_bytes(const PatternInput& in, const MatchedCalls& updates) {
  double adam = 0, sgd = 0;
  bool scales = false;
  for (const AssessedCall* call : updates.calls()) {
    const std::string_view name = call->assessed->group->key.name;
    const ArgValue* parameter = in.view(*call).tensor(0);
    if (parameter == nullptr) continue;
    const double bytes = bytes_of(*parameter).value_or(0);
    if (name == "aten::addcdiv_") adam += 7 * bytes;
    if (name == "aten::add_") sgd += 5 * bytes;
    scales = scales || name == "aten::mul_";
  }
  // Without addcdiv_ a parameter has one add_, or with momentum two.
  return adam > 0 ? adam : scales ? sgd / 2 : sgd;
}

// Fused updates of many lists of a parameter or two, as of an optimizer with a group for each.
std::vector<Finding> small_groups(const PatternInput& in, const MatchedCalls& fused) {
  constexpr size_t kManyUpdates = 16, kFewParameters = 2;
  const auto parameters_of = [&in](const AssessedCall* call) {
    const OpView& view = in.view(*call);
    return view.args.inputs.empty() ? 0 : view.args.inputs[0].list.size();
  };
  MatchedCalls found;
  for (const AssessedCall* call : fused.calls()) {
    const size_t parameters = parameters_of(call);
    if (parameters > 0 && parameters <= kFewParameters) found.add(*call);
  }
  if (found.size() < kManyUpdates * in.steps() || 2 * found.size() < fused.size()) return {};
  const double most = found.counted() + found.waited();
  if (!is_noticeable(in, most)) return {};
  PatternText text{FindingKind::kLoopedOptimizer,
                   std::string(ops_by_time(found.calls()).front()->group->key.name),
                   "The optimizer's fused updates get a parameter or two each",
                   fmt::format("{} take {}; the GPU is idle for {} before them. Each group of "
                               "parameters is updated by launches of its own.",
                               per_step(in, found.size(), "update", "updates"),
                               micros_text(nanos_from(found.seconds())),
                               micros_text(nanos_from(found.waited()))),
                   Confidence::kHigh};
  return {pattern_finding(in, std::move(text), found,
                          {0, most, "", "all parameters in a few groups (upper bound)"},
                          Traits{"small_groups"})};
}

}  // namespace

std::vector<Finding> looped_optimizer(const PatternInput& in) {
  constexpr size_t kManyUpdates = 20;
  const OptimizerSteps steps(in.store());
  MatchedCalls fused;
  for (const AssessedCall& call : in.calls()) {
    const EventId event = call.op->event;
    if (in.has(call, Role::kFusedUpdate) &&
        steps.contains(in.store().track_id(event), in.store().start(event)))
      fused.add(call);
  }
  // It is there already, beside what it cannot do.
  if (!fused.empty()) return small_groups(in, fused);
  const std::vector<bool> updates = find_updates(in);
  MatchedCalls found;
  for (size_t i = 0; i < updates.size(); ++i) {
    if (updates[i]) found.add(in.calls()[i]);
  }
  if (found.size() < kManyUpdates * in.steps()) return {};
  const double needed =
      in.memory_rate() ? fused_bytes(in, found) / *in.memory_rate() : found.counted();
  const double most = found.counted() + found.waited() - std::min(found.counted(), needed);
  if (!is_noticeable(in, most)) return {};
  constexpr double kReached = 0.6;
  PatternText text{
      FindingKind::kLoopedOptimizer,
      std::string(ops_by_time(found.calls()).front()->group->key.name),
      "The optimizer updates parameters one by one",
      fmt::format("{} of single parameters take {}; the GPU is idle for {} before them.",
                  per_step(in, found.size(), "update", "updates"),
                  micros_text(nanos_from(found.seconds())),
                  micros_text(nanos_from(found.waited()))),
      Confidence::kHigh};
  return {pattern_finding(
      in, std::move(text), found,
      {found.counted() - std::min(found.counted(), needed / kReached), most,
       "fused, at 60 % of the bandwidth", "fused, at full bandwidth, without the idle time"})};
}

namespace {

// Rounds of a loop: products of one size at equal distances, launched by the same code.
struct ProductLoop {
  std::vector<size_t> places;
  bool independent = false;  // no product can read the one before
};

class LoopSearch {
 public:
  explicit LoopSearch(const PatternInput& in) : in_(in) {}

  std::vector<ProductLoop> find() {
    const std::vector<AssessedCall>& calls = in_.calls();
    for (size_t i = 0; i < calls.size(); ++i) {
      const AssessedCall& call = calls[i];
      if (call.assessed->category == "norm" || in_.view(call).has(Role::kAttention)) close();
      if (!is_short_product(call)) continue;
      // Products of several sizes in a round: only where each reads one of many matrices.
      const bool alike =
          !open_.empty() && (calls[open_.back()].assessed == call.assessed ||
                             (reads_slice(calls[open_.back()]) && reads_slice(call)));
      const bool continues = alike && i - open_.back() <= kRound &&
                             in_.same_thread(calls[open_.back()], call) &&
                             frame_of(calls[open_.back()]) == frame_of(call);
      if (!continues) close();
      open_.push_back(i);
    }
    close();
    return std::move(loops_);
  }

 private:
  static constexpr size_t kRound = 6, kRounds = 8;

  EventId frame_of(const AssessedCall& call) const { return in_.user_frame(call.op->event); }

  // Far from filling the GPU, and its result cannot be the next one's operand: a chain of layers
  // has square products or alternates between two sizes.
  bool is_short_product(const AssessedCall& call) const {
    constexpr int64_t kShortest = 5;
    const auto& size = in_.product(*call.assessed);
    if (!size || (size->n == size->k && !reads_slice(call))) return false;
    // Gradients of layers with one size each are computed one after the other.
    if (in_.any_around(call.op->event, "autograd::engine::evaluate_function*")) return false;
    return call.time.count < kShortest * in_.assessment().shortest_kernel().count ||
           call.time.count < 10'000;
  }

  // Whether one of many equal matrices in one tensor was selected right before: a loop over them.
  bool reads_slice(const AssessedCall& call) const {
    constexpr uint32_t kBefore = 8;
    CallId at = in_.tree().call(call.op->event);
    for (uint32_t i = 0; i < kBefore && at.valid() && at.index > 0; ++i) {
      --at.index;
      const EventId event = in_.tree().event(at);
      if (in_.store().track_id(event) != in_.store().track_id(call.op->event)) return false;
      if (in_.store().name(event) != "aten::select") continue;
      const auto args = read_op_args(in_.store(), in_.store().args_id(event));
      const bool many = args && !args->inputs.empty() && args->inputs[0].shape.dims.size() >= 3 &&
                        args->inputs[0].shape.dims[0] >= static_cast<int64_t>(kRounds);
      if (many) return true;
    }
    return false;
  }

  void close() {
    if (open_.size() >= kRounds) {
      const AssessedOp* first = in_.calls()[open_.front()].assessed;
      const auto& size = in_.product(*first);
      const bool one_size = std::ranges::all_of(
          open_, [&](size_t place) { return in_.calls()[place].assessed == first; });
      const bool independent = one_size && size && size->n != size->k;
      loops_.push_back({std::move(open_), independent});
    }
    open_ = {};
  }

  const PatternInput& in_;
  std::vector<size_t> open_;
  std::vector<ProductLoop> loops_;
};

// On the GPU, from the begin of the first product to the end of the last.
Nanos span_of(const PatternInput& in, const ProductLoop& loop) {
  const UnifiedOp& first = *in.calls()[loop.places.front()].op;
  const UnifiedOp& last = *in.calls()[loop.places.back()].op;
  if (first.kernels.empty() || last.kernels.empty()) return {};
  const Nanos begin = in.store().start(first.kernels.front());
  return std::max(Nanos{}, in.store().end(last.kernels.back()) - begin);
}

}  // namespace

// Loops over experts with other numbers of rows are told by tiny_products.
std::vector<Finding> looped_products(const PatternInput& in) {
  MatchedCalls found;
  double limit = 0, span = 0;
  size_t loops = 0, products = 0;
  bool independent = false;
  for (const ProductLoop& loop : LoopSearch(in).find()) {
    ++loops;
    independent = independent || loop.independent;
    products += loop.places.size();
    const double floor = seconds_of(in.assessment().shortest_kernel());
    double bound = 0;
    for (size_t place : loop.places) {
      const AssessedCall& call = in.calls()[place];
      found.add(call);
      bound += call.assessed->bound ? call.assessed->bound->seconds() : 0;
    }
    limit += std::max(bound, floor);
    span += seconds_of(span_of(in, loop));
  }
  // One product takes the place of all that runs from the first to the last.
  const double most =
      std::max(found.counted() + found.waited() - std::min(found.counted(), limit), span - limit);
  if (found.empty() || !is_noticeable(in, most)) return {};
  constexpr double kReached = 0.6;
  PatternText text{
      FindingKind::kLoopedProducts, std::string(found.calls().front()->assessed->group->key.name),
      fmt::format("{} small products run one by one", number_text(products)),
      fmt::format(
          "{} of products with the same sizes in each round, {} each on average; the GPU is "
          "idle for {} before them.",
          counted(loops, "loop"),
          micros_text(nanos_from(found.seconds() / static_cast<double>(products))),
          micros_text(nanos_from(found.waited()))),
      Confidence::kMedium};
  Finding f = with_host_calls(
      found, pattern_finding(in, std::move(text), found,
                             {found.counted() - std::min(found.counted(), limit / kReached), most,
                              "one batched product at 60 % of achievable",
                              "one batched product at 100 % of achievable, without idle time"}));
  if (!independent && f.priority < Priority::kMedium) {
    f.priority = Priority::kMedium;
    f.priority_reason = "a notable pattern; a product may read the one before, check the code";
    f.confidence = Confidence::kLow;
  }
  return {f};
}

}  // namespace fathom::patterns
