#include "analyze/saving_range.h"

#include <algorithm>
#include <memory>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "analyze/critical/step_model.h"
#include "analyze/place.h"
#include "analyze/priority.h"

namespace fathom {
namespace {

constexpr size_t kBounded = 10, kWidened = 6;  // findings: the cost stays linear in the trace
constexpr double kWorthReplaying = 0.01;       // of the step
// The part of a finding's work that must be in the steps looked at for them to speak for it.
constexpr double kSeen = 0.8;
// What is left of the lower end after a replacement: the least that was measured for replacements
// that take over all of the work (bench/results/2026-11-18-ledger.md).
constexpr double kAfterReplacement = 0.85;
// Of the step: how far the model's steps are from those measured, in the middle of the cases.
constexpr double kModelError = 0.03;
constexpr double kWithShortKernels = 1.5;  // that fewer launches take along, of the idle time
// The part of a function's time that a finding must be for the function to go as a whole.
constexpr double kMostOfFunction = 0.4;
// Of a copy's time: what reads the other layout takes longer.
constexpr double kAfterCopies = 0.5;
// Convolutions that need no other layout are faster themselves.
constexpr double kWithConvolution = 1.2;

// The same ops run, each of them faster: nothing goes with them.
bool keeps_ops(FindingKind kind) {
  return kind == FindingKind::kImageLayout || kind == FindingKind::kWideProducts ||
         kind == FindingKind::kOddSizes || kind == FindingKind::kRecompute ||
         kind == FindingKind::kDiscardedRows || kind == FindingKind::kFullMask ||
         kind == FindingKind::kProductOrder || kind == FindingKind::kStridedReduction ||
         kind == FindingKind::kFallbackOp;
}

bool is_loop(FindingKind kind) {
  return kind == FindingKind::kLoopedProducts || kind == FindingKind::kTinyProducts ||
         kind == FindingKind::kSmallCollectives;
}

// Time of the host that the GPU waits for.
bool is_host_time(FindingKind kind) {
  return kind == FindingKind::kSynchronization || kind == FindingKind::kDataLoading ||
         kind == FindingKind::kHostWork || kind == FindingKind::kAllocation ||
         kind == FindingKind::kHostBound;
}

Nanos part_of(Nanos time, double share) {
  return {static_cast<int64_t>(static_cast<double>(time.count) * share)};
}

}  // namespace

bool replaces_work(FindingKind kind) {
  switch (kind) {
    case FindingKind::kUnfusedAttention:
    case FindingKind::kAttentionMath:
    case FindingKind::kFusibleChain:
    case FindingKind::kTinyProducts:
    case FindingKind::kLoopedProducts:
    case FindingKind::kLoopedOptimizer:
    case FindingKind::kImageLayout:
    case FindingKind::kWideProducts:
    case FindingKind::kDoublePrecision:
    case FindingKind::kCasts:
    case FindingKind::kRepeatedKeys:
    case FindingKind::kLayoutCopies:
    case FindingKind::kGrowingCache:
    case FindingKind::kOneHotProduct:
    case FindingKind::kFullSort:
    case FindingKind::kRepeatedTables:
    case FindingKind::kOddSizes:
    case FindingKind::kContendedAtomics:
    case FindingKind::kRecompute:
    case FindingKind::kPageableCopies:
    case FindingKind::kSmallCollectives:
    case FindingKind::kDiscardedRows:
    case FindingKind::kMovedCache:
    case FindingKind::kFullMask:
    case FindingKind::kOverwrittenFills:
    case FindingKind::kDenseGradient:
    case FindingKind::kPaddingCopies:
    case FindingKind::kProductOrder:
    case FindingKind::kUnusedGradients:
    case FindingKind::kRepeatedBackward:
    case FindingKind::kStridedReduction:
    case FindingKind::kLargeIntermediate:
    case FindingKind::kFallbackOp:
      return true;
    default:
      return false;
  }
}

class SavingModel {
 public:
  SavingModel(const Assessment& a, const CriticalPath& path)
      : a_(a), tree_(a.input().tree), graph_(path.graph()), model_(a.input(), path) {}

  bool is_worth_it(const Finding& f) const {
    return ratio(f.saving_at_most, a_.length()) >= kWorthReplaying;
  }

  bool can_tell(const Finding& f) const {
    if (graph_.empty() || graph_.length == 0 || model_.spent()) return false;
    const double of_steps = graph_.all_steps > 0 ? static_cast<double>(graph_.steps) /
                                                       static_cast<double>(graph_.all_steps)
                                                 : 1;
    Nanos all, seen;
    for (const CoveredEvent& covered : f.covered) {
      if (!covered.event.valid()) return false;
      // Host time that no event fills is put down to the launch after it, which is not what goes.
      const EventKind kind = a_.input().store.kind(covered.event);
      if (f.kind == FindingKind::kHostWork && (is_launch(kind) || is_gpu_work(kind))) return false;
      all += covered.time;
      const bool is_frame = a_.input().store.kind(covered.event) == EventKind::kPython;
      if (is_frame || model_.covers(covered.event)) seen += covered.time;
    }
    return !f.covered.empty() && ratio(seen, all) >= kSeen * of_steps;
  }

  bool is_about_gpu_work(const Finding& f) const {
    return std::ranges::all_of(f.covered, [&](const CoveredEvent& covered) {
      return covered.event.valid() && is_gpu_work(a_.input().store.kind(covered.event));
    });
  }

  // No more than the step is shorter by without the work at all. Faster kernels are still launched.
  void lower(Finding& f) {
    begin();
    for (const CoveredEvent& covered : f.covered) go(covered.event, 0);
    const bool stays = f.kind == FindingKind::kLowEfficiency || f.kind == FindingKind::kKernelLimit;
    if (!stays) remove_launches();
    const double most = model_.saved(Outlook::kOptimistic);
    f.saving_at_most = std::min(f.saving_at_most, part_of(a_.length(), most));
    f.saving_at_least = std::min(f.saving_at_least, f.saving_at_most);
    for (Projection& projection : f.projections) projection.gain = std::min(projection.gain, most);
  }

  void tell_host_time(Finding& f) {
    double least = 0;
    begin();
    if (f.kind == FindingKind::kHostBound) {
      model_.keep_calls(0.5);
      least = model_.saved(Outlook::kPessimistic);
      model_.keep_calls(0);
      merge_short_kernels();
      f.goes_with.short_kernels = true;
    } else {
      for (const CoveredEvent& covered : f.covered) remove_host_time(covered.event, f.kind);
      // What takes the place of code is not free; a loader may be no faster in another process.
      if (f.kind != FindingKind::kDataLoading)
        least = kAfterReplacement *
                std::min(model_.saved(Outlook::kPessimistic, &StepModel::HostLeft::most),
                         model_.saved(Outlook::kPessimistic, &StepModel::HostLeft::least));
      if (f.kind == FindingKind::kSynchronization) remove_waiting_ops(f);
      f.goes_with.code_before = f.kind == FindingKind::kSynchronization;
      f.goes_with.functions = remove_functions(f, false);
    }
    double most = model_.saved(Outlook::kOptimistic);
    if (f.kind != FindingKind::kHostBound)
      most = std::max(most, model_.saved(Outlook::kOptimistic, &StepModel::HostLeft::least));
    // The model takes the profiler's cost off for each of its many frames: at most it is as
    // recorded.
    if (f.is_quiet_function) most = std::max(most, f.share);
    // Waits and copies are lengthened by a profiler less than ops are.
    if (f.kind == FindingKind::kSynchronization) most = std::max(most, model_.saved_at_most());
    // Of a function's code more is removed than what the GPU waited for. Where the whole function
    // goes, its waits, copies and launches go with the code.
    if (f.kind == FindingKind::kHostWork) {
      least = std::min(least, f.share);
      const double gone = f.goes_with.functions ? ratio(gone_with_functions_, a_.length()) : 0;
      most = std::min(most, std::max(f.share, gone) * std::max(1.0, model_.lengthened()));
    }
    // The replay without calls also takes what loads code or waits, which is another finding's.
    if (f.kind == FindingKind::kHostBound) {
      least = std::min(least, f.share);
      most = std::min(most, kWithShortKernels * f.share);
    }
    set(f, least, std::max(least, most) + kModelError);
    // Of a step without the profiler it may be a smaller part. Late launches are what the profiler
    // makes most of.
    const double share = f.share;
    f.share = std::min(f.share, f.kind == FindingKind::kHostBound ? least : most);
    if (f.share < share) rate_part_of_whole(f);
    f.share = share;
  }

  void tell_replaced_work(Finding& f) {
    const double time = static_cast<double>(std::max<int64_t>(1, f.time.count));
    double least = std::min(1.0, static_cast<double>(f.saving_at_least.count) / time);
    const double most = std::min(1.0, static_cast<double>(f.saving_at_most.count) / time);
    if (f.kind == FindingKind::kLayoutCopies) least = std::max(least, kAfterCopies * most);
    const bool may_be_needed = f.confidence == Confidence::kLow;
    if (f.kind == FindingKind::kRecompute && !may_be_needed) least = std::max(least, most);
    begin();
    for (const CoveredEvent& covered : f.covered) go(covered.event, 1 - kAfterReplacement * least);
    if (is_loop(f.kind)) remove_launches();
    const double low = model_.saved(Outlook::kPessimistic, &StepModel::HostLeft::most);
    begin();
    const bool is_fused =
        f.kind == FindingKind::kFusibleChain || f.kind == FindingKind::kUnfusedAttention;
    for (const CoveredEvent& covered : f.covered) go(covered.event, is_fused ? 0 : 1 - most);
    if (!keeps_ops(f.kind)) {
      go_with(f);
      if (is_loop(f.kind) || f.kind == FindingKind::kRepeatedTables ||
          f.kind == FindingKind::kLoopedOptimizer)
        f.goes_with.between = remove_functions(f, true);
      if (f.kind == FindingKind::kPageableCopies)
        f.goes_with.functions = remove_functions(f, false);
      remove_launches();
      f.goes_with.launches = true;
    }
    double high = model_.saved(Outlook::kOptimistic, &StepModel::HostLeft::least);
    if (is_loop(f.kind))
      high = std::max({high, model_.saved(Outlook::kOptimistic), model_.saved_at_most()});
    if (f.kind == FindingKind::kImageLayout) high *= kWithConvolution;
    set(f, std::min(low, high), high + kModelError);
  }

 private:
  void begin() {
    model_.begin_repair();
    going_.resize(a_.input().store.size());
    for (const EventId work : works_) going_[work.index] = false;
    works_.clear();
  }

  void go(EventId work, double left) {
    model_.keep_work(work, left);
    if (going_[work.index]) return;
    going_[work.index] = true;
    works_.push_back(work);
  }

  // Of work that goes: the outermost call that launches nothing else.
  void remove_launches() {
    constexpr size_t kMostWork = 64;
    if (!tree_.has_launches()) return;
    for (const EventId work : works_) {
      CallId gone = tree_.launch(work);
      if (!gone.valid()) continue;
      for (CallId c = gone; c.valid(); c = tree_.parent(c)) {
        const std::span<const EventId> launched = tree_.launched_in_subtree(c);
        if (launched.size() > kMostWork || !is_host_call(a_.input().store.kind(tree_.event(c))))
          break;
        if (!std::ranges::all_of(launched, [this](EventId e) { return going_[e.index]; })) break;
        gone = c;
      }
      model_.remove_call(gone);
    }
  }

  void remove_host_time(EventId event, FindingKind kind) {
    const CallId call = tree_.call(event);
    if (a_.input().store.kind(event) == EventKind::kPython) {
      const EventStore& store = a_.input().store;
      return model_.remove_code({store.track_id(event), {store.start(event), store.end(event)}},
                                false);
    }
    if (!call.valid() || is_gpu_work(a_.input().store.kind(event))) return;
    if (kind == FindingKind::kSynchronization) return model_.remove_waits_in(call);
    model_.remove_call(call);
  }

  const std::vector<PlaceIds>& places_of_calls() {
    if (!ids_.empty()) return ids_;
    for (const AssessedCall& call : a_.calls()) {
      const auto& kernels = call.op->kernels;
      ids_.push_back(a_.places().of(kernels.empty() ? call.op->event : kernels.front()));
      if (!is_pointwise(*call.assessed)) mixed_.insert(ids_.back().frame);
      modules_[ids_.back().frame].insert(ids_.back().module);
    }
    return ids_;
  }

  // Where modules are the framework's, the function around them is that of all layers.
  bool runs_a_model(EventId frame) const {
    constexpr size_t kModules = 8;
    const auto modules = modules_.find(frame);
    return modules != modules_.end() && modules->second.size() > kModules;
  }

  // Gradients of the ops, and memory-bound ops of the same function calls with theirs; of a chain
  // where the function has no other work.
  void go_with(Finding& f) {
    const bool is_chain = f.kind == FindingKind::kFusibleChain;
    std::unordered_set<EventId> ops, frames;
    std::set<std::pair<EventId, EventId>> parts;  // of functions that run a whole model
    for (const CoveredEvent& covered : f.covered) {
      const PlaceIds ids = a_.places().of(covered.event);
      if (ids.frame.valid()) frames.insert(ids.frame);
      if (ids.frame.valid()) parts.emplace(ids.frame, ids.module);
      if (ids.op.valid()) ops.insert(ids.op);
    }
    const std::vector<PlaceIds>& ids = places_of_calls();
    // Of an op that copies before it multiplies, the product stays where the copies go.
    const bool are_copies = f.kind == FindingKind::kLayoutCopies;
    for (size_t i = 0; i < ids.size(); ++i) {
      const AssessedCall& call = a_.calls()[i];
      if (are_copies && !is_pointwise(*call.assessed)) continue;
      const bool is_beside =
          frames.contains(ids[i].frame) &&
          (!runs_a_model(ids[i].frame) || parts.contains({ids[i].frame, ids[i].module})) &&
          is_pointwise(*call.assessed) && (!is_chain || !mixed_.contains(ids[i].frame));
      if (!is_beside && !ops.contains(ids[i].op)) continue;
      f.goes_with.beside |= is_beside;
      f.goes_with.gradients |= !is_beside && ids[i].gradient;
      for (const EventId kernel : call.op->kernels)
        if (!going_[kernel.index]) go(kernel, 0);
    }
  }

  // Fewer launches are fewer kernels: what a short one takes is mostly the same for each.
  void merge_short_kernels() {
    constexpr Nanos kShort{10'000};
    constexpr double kMerged = 0.3;
    const EventStore& store = a_.input().store;
    for (const EventId e : a_.input().selection.linked())
      if (store.kind(e) == EventKind::kKernel && store.duration(e) < kShort)
        model_.keep_work(e, kMerged);
  }

  // Ops that wait, with what they launch and its gradients.
  void remove_waiting_ops(const Finding& f) {
    std::unordered_set<EventId> ops;
    for (const CoveredEvent& covered : f.covered) {
      const PlaceIds ids = a_.places().of(covered.event);
      if (ids.op.valid() && a_.input().store.name(ids.op).starts_with("aten::")) ops.insert(ids.op);
    }
    const std::vector<PlaceIds>& ids = places_of_calls();
    keep_heavy_ops(f.time, ids, ops);
    for (const EventId op : ops) {
      const CallId call = tree_.call(op);
      if (!call.valid()) continue;
      model_.remove_call(call);
      remove_what_leads_to(call);
    }
    for (size_t i = 0; i < ids.size(); ++i) {
      if (!ops.contains(ids[i].op)) continue;
      for (const EventId kernel : a_.calls()[i].op->kernels) go(kernel, 0);
    }
    remove_launches();
  }

  // An op that computes far longer than it makes the GPU wait is there for its result.
  void keep_heavy_ops(Nanos idle, const std::vector<PlaceIds>& ids,
                      std::unordered_set<EventId>& ops) const {
    constexpr double kTimesIdle = 8;
    Nanos work;
    for (size_t i = 0; i < ids.size(); ++i)
      if (ops.contains(ids[i].op)) work += a_.calls()[i].time;
    if (ratio(work, idle) > kTimesIdle) ops.clear();
  }

  // What is done only for a wait, in the same function call: the host's code before the waiting op
  // (a list that becomes a tensor), and a comparison and a reduction of what it asks for.
  void remove_what_leads_to(CallId wait) {
    constexpr size_t kMostOps = 2, kMostCalls = 32;
    const EventStore& store = a_.input().store;
    const EventId waiting = tree_.event(wait);
    const EventId frame = a_.places().of(waiting).frame;
    const TrackId track = store.track_id(waiting);
    if (!frame.valid() || store.track_id(frame) != track) return;
    Nanos begin = store.start(frame);
    size_t ops = 0;
    CallId c = wait;
    for (size_t i = 0; i < kMostCalls && c.index > 0; ++i) {
      CallId before(c.index - 1);
      while (tree_.parent(before).valid() && tree_.subtree_end(tree_.parent(before)) <= c)
        before = tree_.parent(before);
      const EventId event = tree_.event(before);
      if (store.track_id(event) != track || store.start(event) < begin) break;
      if (tree_.subtree_end(before) > c) break;  // around the wait
      const std::span<const EventId> launched = tree_.launched_in_subtree(before);
      const bool goes = launched.empty() || (++ops <= kMostOps && is_light(launched, frame));
      if (!goes) {
        begin = store.end(event);
        break;
      }
      if (!launched.empty()) model_.remove_call(before);
      for (const EventId work : launched) go(work, 0);
      c = before;
    }
    if (begin < store.start(waiting))
      model_.remove_code({track, {begin, store.start(waiting)}}, true);
  }

  bool is_light(std::span<const EventId> work, EventId frame) {
    if (pointwise_.empty()) {
      pointwise_.resize(a_.input().store.size());
      for (const AssessedCall& call : a_.calls())
        for (const EventId kernel : call.op->kernels)
          pointwise_[kernel.index] = is_pointwise(*call.assessed);
    }
    return std::ranges::all_of(
        work, [&](EventId e) { return pointwise_[e.index] && a_.places().of(e).frame == frame; });
  }

  // The function calls that the finding is about, where it is much of them: all that they do goes.
  // Of a loop, what is between the first and the last of its calls.
  bool remove_functions(const Finding& f, bool of_loop) {
    const EventStore& store = a_.input().store;
    struct Function {
      TrackId track;
      Nanos begin, end;
      EventId frame;
      Nanos covered;
    };
    std::vector<Function> functions;
    std::unordered_map<EventId, size_t> known;
    for (const CoveredEvent& covered : f.covered) {
      const PlaceIds ids = a_.places().of(covered.event);
      if (!ids.frame.valid() || ids.gradient) continue;
      const auto [place, is_new] = known.try_emplace(ids.frame, functions.size());
      if (is_new) {
        functions.push_back({store.track_id(ids.frame),
                             store.start(ids.frame),
                             store.end(ids.frame),
                             ids.frame,
                             {}});
        if (of_loop) functions.back().begin = functions.back().end = {};
      }
      Function& function = functions[place->second];
      function.covered += covered.time;
      if (!of_loop || !ids.op.valid()) continue;
      const Nanos begin = store.start(ids.op), end = store.end(ids.op);
      if (function.end.count == 0) function.begin = begin;
      function.begin = std::min(function.begin, begin);
      function.end = std::max(function.end, end);
    }
    std::ranges::sort(functions, [](const Function& x, const Function& y) {
      return std::tuple(x.track, x.begin, y.end) < std::tuple(y.track, y.begin, x.end);
    });
    // Of functions that nest the outer one counts.
    size_t kept = 0;
    for (const Function& function : functions) {
      if (kept > 0 && functions[kept - 1].track == function.track &&
          function.begin < functions[kept - 1].end)
        continue;
      functions[kept++] = function;
    }
    functions.resize(kept);
    const auto is_in_function = [&](EventId event) {
      const auto after = std::ranges::upper_bound(
          functions, std::pair(store.track_id(event), store.start(event)), {},
          [](const Function& x) { return std::pair(x.track, x.begin); });
      if (after == functions.begin()) return false;
      const Function& function = *(after - 1);
      return function.track == store.track_id(event) && store.start(event) < function.end;
    };
    Nanos covered, all;
    for (const Function& function : functions) {
      covered += function.covered;
      all += function.end - function.begin;
    }
    if (functions.empty() || (!of_loop && ratio(covered, all) < kMostOfFunction)) return false;
    std::vector<Interval> spans;
    for (const Function& function : functions) spans.push_back({function.begin, function.end});
    gone_with_functions_ = idle_time_in(a_.idle(), merge_intervals(std::move(spans)));
    for (const Function& function : functions)
      model_.remove_code({function.track, {function.begin, function.end}}, true);
    for (CallId c(0); c.index < tree_.size();) {
      if (is_host_call(store.kind(tree_.event(c))) && is_in_function(tree_.event(c))) {
        model_.remove_call(c);
        for (const EventId launched : tree_.launched_in_subtree(c)) {
          gone_with_functions_ += store.duration(launched);
          if (!going_[launched.index]) model_.keep_work(launched, 0);
        }
        c = tree_.subtree_end(c);
      } else {
        ++c.index;
      }
    }
    return true;
  }

  void set(Finding& f, double least, double most) {
    f.saving_at_least = part_of(a_.length(), std::min(1.0, least));
    f.saving_at_most = part_of(a_.length(), std::min(1.0, most));
    f.with_it = std::max(Nanos{}, f.saving_at_most - f.time);
  }

  const Assessment& a_;
  const CallTree& tree_;
  const CriticalGraph& graph_;
  StepModel model_;
  std::vector<bool> going_;      // by event
  std::vector<EventId> works_;   // that go
  Nanos gone_with_functions_;    // idle time and GPU work of the functions that were removed last
  std::vector<PlaceIds> ids_;    // of the calls, once asked for
  std::vector<bool> pointwise_;  // by event, once asked for
  // Calls of functions with more than memory-bound ops: such a function is not one fused kernel.
  std::unordered_set<EventId> mixed_;
  std::unordered_map<EventId, std::unordered_set<EventId>> modules_;  // by function
};

SavingRanges::SavingRanges(const Assessment& a, const CriticalPath& path)
    : model_(std::make_unique<SavingModel>(a, path)) {}
SavingRanges::~SavingRanges() = default;

void SavingRanges::bound(std::vector<Finding>& findings) {
  std::vector<Finding*> largest;
  for (Finding& f : findings)
    if (model_->is_worth_it(f)) largest.push_back(&f);
  std::ranges::stable_sort(largest, std::greater{}, &Finding::saving_at_most);
  largest.resize(std::min(largest.size(), kBounded));
  for (Finding* f : largest) {
    if (!model_->can_tell(*f)) continue;
    if (is_host_time(f->kind)) {
      model_->tell_host_time(*f);
    } else if (model_->is_about_gpu_work(*f)) {
      model_->lower(*f);
    }
  }
}

void SavingRanges::widen(std::vector<Finding>& findings) {
  size_t left = kWidened;
  for (Finding& f : findings) {
    if (f.kind == FindingKind::kExpensiveOp) continue;  // no more than the op itself takes
    if (left-- == 0) break;
    if (!replaces_work(f.kind) || !model_->is_worth_it(f) || !model_->can_tell(f)) continue;
    model_->tell_replaced_work(f);
  }
}

}  // namespace fathom
