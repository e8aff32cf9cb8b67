// A model that runs once more without gradients on the sizes of its training pass, as to report an
// accuracy.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "analyze/finding_parts.h"
#include "analyze/gradients.h"
#include "analyze/patterns/pattern_finding.h"
#include "analyze/patterns/patterns.h"

namespace fathom::patterns {
namespace {

// One call of a module that no other module called.
struct ModuleRun {
  EventId frame;
  std::vector<const AssessedOp*> products;  // and convolutions, in their order
  std::vector<const AssessedCall*> calls;
};

// The frames of the outermost modules around calls; each frame's way up is walked once.
class OutermostModules {
 public:
  explicit OutermostModules(const PatternInput& in) : in_(in) {}

  // Invalid outside of modules.
  EventId around(EventId op) {
    std::vector<EventId> walked;
    EventId at = in_.tree().frame(in_.tree().call(op)), found;
    for (; at.valid(); at = in_.tree().parent_frame(at)) {
      const auto known = known_.find(at.index);
      if (known != known_.end()) {
        found = known->second;
        break;
      }
      walked.push_back(at);
    }
    for (; !walked.empty(); walked.pop_back()) {
      const EventId frame = walked.back();
      if (!found.valid() && in_.store().name(frame).starts_with("nn.Module: ")) found = frame;
      known_.emplace(frame.index, found);
    }
    return found;
  }

 private:
  const PatternInput& in_;
  std::unordered_map<uint32_t, EventId> known_;
};

// By the object, which the frame's name numbers, in the order of time.
std::map<std::string_view, std::vector<ModuleRun>> runs_by_module(const PatternInput& in) {
  std::map<std::string_view, std::vector<ModuleRun>> runs;
  OutermostModules modules(in);
  for (const AssessedCall& call : in.calls()) {
    const EventId frame = modules.around(call.op->event);
    if (!frame.valid()) continue;
    std::vector<ModuleRun>& of = runs[in.store().name(frame)];
    if (of.empty() || of.back().frame != frame) of.push_back({frame, {}, {}});
    of.back().calls.push_back(&call);
    if (in.product(*call.assessed) || call.assessed->category == "convolution")
      of.back().products.push_back(call.assessed);
  }
  return runs;
}

bool has_gradient(const PatternInput& in, const Gradients& gradients, const ModuleRun& run) {
  return std::ranges::any_of(run.calls, [&](const AssessedCall* call) {
    CallId outermost = in.tree().call(call->op->event);
    while (in.tree().enclosing_op(in.tree().parent(outermost)).valid())
      outermost = in.tree().enclosing_op(in.tree().parent(outermost));
    return !gradients.of(outermost).empty();
  });
}

// The passes without gradients that have the products of those with gradients, in the same thread;
// none where there are fewer of them, as of a validation once in many steps.
std::vector<const ModuleRun*> passes_again(const PatternInput& in, const Gradients& gradients,
                                           const std::vector<ModuleRun>& runs) {
  constexpr size_t kLayers = 2;
  std::vector<const ModuleRun*> trained, again;
  for (const ModuleRun& run : runs) {
    if (run.products.size() < kLayers) continue;
    (has_gradient(in, gradients, run) ? trained : again).push_back(&run);
  }
  std::erase_if(again, [&](const ModuleRun* run) {
    return std::ranges::none_of(trained, [&](const ModuleRun* other) {
      return run->products == other->products &&
             in.same_thread(*run->calls.front(), *other->calls.front());
    });
  });
  if (again.size() < trained.size()) again.clear();
  return again;
}

}  // namespace

std::vector<Finding> forward_again(const PatternInput& in) {
  if (!in.has_backward()) return {};
  const Gradients gradients(in.assessment().input());
  MatchedCalls found;
  size_t count = 0;
  std::string_view module;
  EventId first;
  for (const auto& [name, runs] : runs_by_module(in)) {
    for (const ModuleRun* run : passes_again(in, gradients, runs)) {
      ++count;
      module = name;
      if (!first.valid()) first = run->frame;
      for (const AssessedCall* call : run->calls) found.add(*call);
    }
  }
  const double most = found.counted() + found.waited();
  if (count == 0 || !is_noticeable(in, most)) return {};
  Traits traits;
  traits.add("forward_again");
  module.remove_prefix(module.find(' ') + 1);
  PatternText text{FindingKind::kRecompute, std::string(module),
                   "A model runs again without gradients, on the sizes of its training pass",
                   fmt::format("{} of {} without gradients: {}. Passes with gradients have the "
                               "same products. Whether both read the same batch is not recorded.",
                               per_step(in, count, "pass", "passes"), module,
                               micros_text(nanos_from(found.seconds()))),
                   Confidence::kLow};
  Finding f = pattern_finding(in, std::move(text), found, {0, most, "", "no second pass"}, traits);
  put_first(in, f, in.tree().parent_frame(first));
  if (f.priority < Priority::kMedium) {
    f.priority = Priority::kMedium;
    f.priority_reason = "a second pass that may read another batch";
  }
  return {f};
}

}  // namespace fathom::patterns
