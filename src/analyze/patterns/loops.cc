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

// A fused step reads parameter, gradient and state once and writes parameter and state once.
std::vector<Finding> looped_optimizer(const PatternInput& in) {
  constexpr size_t kManyUpdates = 20;
  const OptimizerSteps steps(in.store());
  MatchedCalls found;
  std::map<std::string_view, size_t> names;
  double needed_bytes = 0;
  for (const AssessedCall& call : in.calls()) {
    const OpView& view = in.view(call);
    if (view.has(Role::kFusedUpdate)) {
      if (steps.contains(in.store().track_id(call.op->event), in.store().start(call.op->event))) {
        return {};  // it is there already, beside what it cannot do
      }
      continue;
    }
    if (!view.has(Role::kUpdate)) continue;
    if (!steps.contains(in.store().track_id(call.op->event), in.store().start(call.op->event))) {
      continue;
    }
    found.add(call);
    const std::string_view name = call.assessed->group->key.name;
    ++names[name];
    const ArgValue* parameter = view.tensor(0);
    // One such op for each parameter: Adam has p, g, m, v to read and p, m, v to write; SGD with
    // momentum p, g, m and p, m.
    if (parameter == nullptr) continue;
    if (name == "aten::addcdiv_") needed_bytes += 7 * bytes_of(*parameter).value_or(0);
  }
  if (found.size() < kManyUpdates * in.steps()) return {};
  if (needed_bytes == 0) {
    // Without addcdiv_: the last update of each parameter is one in three ops at most.
    for (const AssessedCall* call : found.calls()) {
      const ArgValue* parameter = in.view(*call).tensor(0);
      if (call->assessed->group->key.name != "aten::add_" || parameter == nullptr) continue;
      needed_bytes += 5 * bytes_of(*parameter).value_or(0) / (names.contains("aten::mul_") ? 2 : 1);
    }
  }
  const double needed = in.memory_rate() ? needed_bytes / *in.memory_rate() : found.counted();
  const double most = found.counted() + found.waited();
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
      {found.counted() - std::min(found.counted(), needed / kReached) + found.waited() / 2,
       most - std::min(found.counted(), needed),
       "fused, at 60 % of the bandwidth, half of the launches' idle time left",
       "fused, at full bandwidth, without idle time"})};
}

namespace {

// Rounds of a loop: products of one size at equal distances, launched by the same code.
struct ProductLoop {
  std::vector<size_t> places;
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
      const bool continues = !open_.empty() && calls[open_.back()].assessed == call.assessed &&
                             i - open_.back() <= kRound &&
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

  EventId frame_of(const AssessedCall& call) const {
    const CallId id = in_.tree().call(call.op->event);
    EventId frame = id.valid() ? in_.tree().frame(id) : EventId{};
    // Frames of C functions and of torch's own end with each call; the loop's function does not.
    for (int i = 0; i < 8 && frame.valid(); ++i, frame = in_.tree().parent_frame(frame)) {
      const std::string_view name = in_.store().name(frame);
      if (!name.starts_with('<') && !name.starts_with("torch/")) break;
    }
    return frame;
  }

  // Far from filling the GPU, and its result cannot be the next one's operand: a chain of layers
  // has square products or alternates between two sizes.
  bool is_short_product(const AssessedCall& call) const {
    constexpr int64_t kShortest = 5;
    const auto& size = in_.product(*call.assessed);
    if (!size || size->n == size->k) return false;
    return call.time.count < kShortest * in_.assessment().shortest_kernel().count ||
           call.time.count < 10'000;
  }

  void close() {
    if (open_.size() >= kRounds) loops_.push_back({std::move(open_)});
    open_ = {};
  }

  const PatternInput& in_;
  std::vector<size_t> open_;
  std::vector<ProductLoop> loops_;
};

}  // namespace

// Loops over experts with other numbers of rows are told by tiny_products.
std::vector<Finding> looped_products(const PatternInput& in) {
  MatchedCalls found;
  double limit = 0;
  size_t loops = 0, products = 0;
  for (const ProductLoop& loop : LoopSearch(in).find()) {
    ++loops;
    products += loop.places.size();
    const double floor = seconds_of(in.assessment().shortest_kernel());
    double bound = 0;
    for (size_t place : loop.places) {
      const AssessedCall& call = in.calls()[place];
      found.add(call);
      bound += call.assessed->bound ? call.assessed->bound->seconds() : 0;
    }
    limit += std::max(bound, floor);
  }
  const double most = found.counted() + found.waited() - std::min(found.counted(), limit);
  if (found.empty() || !is_noticeable(in, most)) return {};
  constexpr double kReached = 0.6;
  PatternText text{
      FindingKind::kLoopedProducts, std::string(found.calls().front()->assessed->group->key.name),
      fmt::format("{} small products of one shape run one by one", number_text(products)),
      fmt::format("{} of products with the same sizes, {} each on average; the GPU is "
                  "idle for {} before them.",
                  counted(loops, "loop"),
                  micros_text(nanos_from(found.seconds() / static_cast<double>(products))),
                  micros_text(nanos_from(found.waited()))),
      Confidence::kMedium};
  return {pattern_finding(in, std::move(text), found,
                          {found.counted() - std::min(found.counted(), limit / kReached), most,
                           "one batched product at 60 % of achievable",
                           "one batched product at 100 % of achievable, without idle time"})};
}

}  // namespace fathom::patterns
