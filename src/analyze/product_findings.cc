// Findings about loops of small matrix products, such as one over the experts of a mixture.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyze/advice.h"
#include "analyze/analyses.h"
#include "analyze/finding_parts.h"
#include "analyze/priority.h"
#include "base/count_text.h"
#include "tree/steps.h"

namespace fathom::analyses {
namespace {

// What products of one loop have in common: the weights' sizes and type.
std::string weight_sizes(const Cost& cost) {
  std::string sizes;
  for (const CostParam& p : cost.params) {
    if (p.name == "N" || p.name == "K" || p.name == "dtype_A_B") sizes += p.json + " ";
  }
  return sizes;
}

// Whether a product's result has fewer tiles than the GPU has units, so that some have nothing to
// do whatever the kernel; or it takes little more than a kernel that does nothing.
bool leaves_units_idle(const Assessment& a, const AssessedCall& call) {
  constexpr int64_t kTile = 128;
  constexpr int64_t kShortestKernels = 10;
  if (call.time.count < kShortestKernels * a.shortest_kernel().count) return true;
  const Cost& cost = *call.assessed->group->cost;
  const auto rows = integer_param(cost, "M"), columns = integer_param(cost, "N");
  if (a.platform() == nullptr || !a.platform()->compute_units || !rows || !columns) return false;
  const int64_t tiles = ((*rows - 1) / kTile + 1) * ((*columns - 1) / kTile + 1);
  return tiles < *a.platform()->compute_units;
}

bool is_small_product(const Assessment& a, const AssessedCall& call) {
  constexpr double kExcellentProduct = 0.8;
  const AssessedOp& op = *call.assessed;
  return op.category == "gemm" && op.group->cost && op.efficiency &&
         *op.efficiency < kExcellentProduct &&
         integer_param(*op.group->cost, "B").value_or(1) <= 1 && leaves_units_idle(a, call);
}

// Gradients of layers follow each other, and their sizes differ as those of experts do. The loop
// over experts is found in the forward pass.
bool is_gradient(const Assessment& a, const AssessedCall& call) {
  constexpr int kLookedAt = 16;
  const CallTree& tree = a.input().tree;
  CallId c = tree.call(call.op->event);
  for (int i = 0; i < kLookedAt && c.valid(); ++i, c = tree.parent(c)) {
    if (a.input().store.name(tree.event(c)).starts_with("autograd::engine::evaluate_function"))
      return true;
  }
  return false;
}

// From the first to the last product of a loop, with all the calls between; places in calls().
struct Loop {
  size_t begin = 0, end = 0;
  std::vector<size_t> products;
  size_t rounds = 0;  // the most that any of its weights is used for, once for each number of rows
};

// Products with weights of one size but other numbers of rows that follow each other closely: a
// loop over experts. In a loop over layers the rows stay the same, and an attention or a norm
// comes between.
class LoopFinder {
 public:
  explicit LoopFinder(const Assessment& a) : a_(a), steps_(a.input().store, kProfilerSteps) {}

  std::vector<Loop> find() {
    const std::vector<AssessedCall>& calls = a_.calls();
    for (size_t i = 0; i < calls.size(); ++i) {
      const std::string_view category = calls[i].assessed->category;
      if (category == "sdpa_fwd" || category == "sdpa_bwd" || category == "norm") close_all();
      if (!is_small_product(a_, calls[i]) || is_gradient(a_, calls[i])) continue;
      std::vector<size_t>& places = open_[weight_sizes(*calls[i].assessed->group->cost)];
      if (!places.empty() && !is_near(places.back(), i)) close(places);
      places.push_back(i);
    }
    close_all();
    return merged();
  }

 private:
  bool is_near(size_t before, size_t place) const {
    constexpr size_t kNear = 12;
    const EventStore& store = a_.input().store;
    const EventId x = a_.calls()[before].op->event, y = a_.calls()[place].op->event;
    return place - before <= kNear && store.track_id(x) == store.track_id(y) &&
           steps_.at(store.start(x)) == steps_.at(store.start(y));
  }

  void close_all() {
    for (auto& [weights, places] : open_) close(places);
    open_.clear();
  }

  void close(std::vector<size_t>& places) {
    constexpr size_t kEnough = 4;
    size_t rounds = 0, kinds = 0;
    const AssessedOp* before = nullptr;
    std::set<const AssessedOp*> seen;
    for (size_t place : places) {
      const AssessedOp* op = a_.calls()[place].assessed;
      rounds += op != before;
      before = op;
      kinds += seen.insert(op).second;
    }
    if (places.size() >= kEnough && kinds > 1) {
      loops_.push_back({places.front(), places.back() + 1, std::move(places), rounds});
    }
    places = {};
  }

  // Products with other weights in the same loop overlap.
  std::vector<Loop> merged() {
    std::ranges::sort(loops_, {}, &Loop::begin);
    std::vector<Loop> all;
    for (Loop& loop : loops_) {
      if (all.empty() || loop.begin >= all.back().end) {
        all.push_back(std::move(loop));
        continue;
      }
      Loop& last = all.back();
      last.end = std::max(last.end, loop.end);
      last.rounds = std::max(last.rounds, loop.rounds);
      last.products.insert(last.products.end(), loop.products.begin(), loop.products.end());
    }
    return all;
  }

  const Assessment& a_;
  const Steps steps_;
  std::map<std::string, std::vector<size_t>> open_;  // places of the current run, by weights
  std::vector<Loop> loops_;
};

struct LoopTimes {
  size_t products = 0, rounds = 0;
  double product_seconds = 0, counted_seconds = 0, limit_seconds = 0;
  double seconds = 0;  // of all calls of the loops
  // That the GPU stood idle for launches that one round instead of many would spare: those of
  // products, and those of all calls.
  double product_waits = 0, waits = 0, all_waits = 0;

  void add(const Assessment& a, const Loop& loop) {
    const double spared = 1 - 1 / static_cast<double>(loop.rounds);
    products += loop.products.size();
    rounds += loop.rounds;
    for (size_t place : loop.products) {
      const AssessedCall& call = a.calls()[place];
      product_seconds += seconds_of(call.time);
      counted_seconds += seconds_of(call.time) * call.assessed->counted;
      limit_seconds += std::min(seconds_of(call.time), call.assessed->bound->seconds());
      product_waits += seconds_of(call.waited) * spared;
    }
    for (size_t i = loop.begin; i < loop.end; ++i) {
      seconds += seconds_of(a.calls()[i].time);
      waits += seconds_of(a.calls()[i].waited) * spared;
      all_waits += seconds_of(a.calls()[i].waited);
    }
  }
};

// At least the products of a loop become one call; at most the whole loop becomes one round.
void project_loops(const Assessment& a, Finding& f, const LoopTimes& times) {
  constexpr double kGood = 0.6;
  const double counted = times.counted_seconds / times.product_seconds;
  const double least =
      std::max(0.0, times.product_seconds - times.limit_seconds / kGood) * counted +
      times.product_waits;
  const double most = (times.product_seconds - times.limit_seconds) * counted + times.waits;
  f.time = nanos_from(times.seconds + times.all_waits);
  f.share = ratio(f.time, a.length());
  f.saving_at_least = nanos_from(least);
  f.saving_at_most = nanos_from(most);
  f.projections = {{"the GEMMs of each loop in one call", f.time - f.saving_at_least,
                    ratio(f.saving_at_least, a.length())},
                   {"all of each loop in one round", f.time - f.saving_at_most,
                    ratio(f.saving_at_most, a.length())}};
}

}  // namespace

std::vector<Finding> tiny_products(const Assessment& a) {
  const std::vector<Loop> loops = LoopFinder(a).find();
  if (loops.empty()) return {};
  LoopTimes times;
  std::map<const AssessedOp*, Nanos> by_op;
  std::map<std::string_view, size_t> beside;  // the loops' other calls
  for (const Loop& loop : loops) {
    times.add(a, loop);
    for (size_t place : loop.products) by_op[a.calls()[place].assessed] += a.calls()[place].time;
    for (size_t i = loop.begin; i < loop.end; ++i) ++beside[a.calls()[i].assessed->group->key.name];
  }
  std::vector<const AssessedOp*> ops;
  for (const auto& [op, time] : by_op) ops.push_back(op);
  // Where times are equal, the groups' own order, that of all ops.
  std::ranges::sort(ops, [&](const AssessedOp* x, const AssessedOp* y) {
    return std::tuple(by_op[y], x) < std::tuple(by_op[x], y);
  });

  Finding f;
  f.kind = FindingKind::kTinyProducts;
  f.category = "gemm";
  f.subject = ops.front()->group->key.name;
  f.title = fmt::format("{} small GEMMs run one by one in loops", times.products);
  f.issue = fmt::format(
      "{} {} of {} rounds in all, such as one over experts, {} different numbers of rows "
      "by weights of one size. A GEMM takes {} on average, too small to fill the GPU; the {} "
      "{}, {} of it idle between launches.",
      loops.size(), noun(loops.size(), "loop"), times.rounds,
      noun(loops.size(), "multiplies", "multiply"),
      micros_text(nanos_from(times.product_seconds / static_cast<double>(times.products))),
      noun(loops.size(), "loop takes", "loops take"),
      micros_text(nanos_from(times.seconds + times.all_waits)),
      micros_text(nanos_from(times.all_waits)));
  advise(a, f, {});
  f.confidence = Confidence::kMedium;
  rate_pattern(f, ops.front()->is_top);
  project_loops(a, f, times);
  for (size_t i = 0; i < std::min<size_t>(3, ops.size()); ++i) {
    f.evidence.push_back(evidence_of(a, *ops[i]));
  }
  constexpr size_t kNotes = 20;
  for (const auto& [name, calls] : beside) {
    if (f.notes.size() == kNotes) break;
    f.notes.push_back(
        {"In the loops: ", std::string(name), fmt::format(", {} {}", calls, noun(calls, "call"))});
  }
  if (beside.size() > kNotes) {
    f.notes.push_back({fmt::format("In the loops: {} more ops", beside.size() - kNotes), {}, {}});
  }
  for (const Loop& loop : loops) {
    for (size_t i = loop.begin; i < loop.end; ++i) cover(a, f, *a.calls()[i].op);
  }
  f.call_stack = call_stack_of(a.input(), a.calls()[loops.front().products.front()].op->event);
  return {f};
}

}  // namespace fathom::analyses
