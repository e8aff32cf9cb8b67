#include "tree/phase_autograd.h"

#include <unordered_map>

namespace fathom {
namespace {

// Asks once for each name.
class KindsByName {
 public:
  KindsByName(const EventStore& store, NamedCode place) : store_(store), place_(place) {}

  std::optional<PhaseKind> of(EventId e) {
    const auto [known, is_new] = kinds_.emplace(store_.name_id(e), std::nullopt);
    if (is_new) known->second = kind_of_code(place_, store_.name(e));
    return known->second;
  }

 private:
  const EventStore& store_;
  NamedCode place_;
  std::unordered_map<StringId, std::optional<PhaseKind>> kinds_;
};

}  // namespace

CodeKinds::CodeKinds(const EventStore& store, const CallTree& tree) : store_(store), tree_(tree) {
  mark_calls();
  mark_threads();
  mark_frames();
  mark_kernels();
}

void CodeKinds::mark_calls() {
  KindsByName kinds(store_, NamedCode::kOp);
  calls_.resize(tree_.size());
  for (size_t i = 0; i < tree_.size(); ++i) {  // callers come first
    const CallId parent = tree_.parent(CallId(i));
    uint8_t flags = parent.valid() ? calls_[parent.index] : 0;
    const EventId e = tree_.event(CallId(i));
    if (store_.kind(e) == EventKind::kCpuOp) {
      const std::optional<PhaseKind> kind = kinds.of(e);
      if (kind == PhaseKind::kBackward) flags |= kInBackward;
      if (kind == PhaseKind::kOptimizer) flags |= kInOptimizer;
      if (store_.autograd(e) != nullptr) flags |= kNumbered;
    }
    has_backward_ = has_backward_ || (flags & kInBackward) != 0;
    calls_[i] = flags;
  }
}

// The engine runs the backward pass of a GPU on a thread of its own. Work that is launched there
// between two functions, by a hook or a reducer, belongs to it. On the program's own thread the
// functions of autograd are few among others.
void CodeKinds::mark_threads() {
  std::vector<size_t> roots(store_.track_count()), functions(store_.track_count());
  for (size_t i = 0; i < tree_.size(); ++i) {
    const EventId e = tree_.event(CallId(i));
    if (tree_.parent(CallId(i)).valid() || store_.kind(e) != EventKind::kCpuOp) continue;
    ++roots[store_.track_id(e).index];
    if ((calls_[i] & kInBackward) != 0) ++functions[store_.track_id(e).index];
  }
  backward_threads_.resize(store_.track_count());
  for (size_t i = 0; i < roots.size(); ++i) {
    backward_threads_[i] = functions[i] > 0 && 2 * functions[i] >= roots[i];
  }
}

void CodeKinds::mark_frames() {
  KindsByName kinds(store_, NamedCode::kFrame);
  std::vector<EventId> frames;
  for (size_t i = 0; i < store_.size(); ++i) {
    if (store_.kind(EventId(i)) == EventKind::kPython) frames.emplace_back(i);
  }
  if (frames.empty()) return;
  functions_.resize(store_.size());
  std::vector<bool> known(store_.size());
  std::vector<EventId> path;
  for (EventId frame : frames) {
    path.clear();
    EventId at = frame;
    for (; at.valid() && !known[at.index]; at = tree_.parent_frame(at)) path.push_back(at);
    EventId outer = at.valid() ? functions_[at.index] : EventId{};
    for (size_t i = path.size(); i-- > 0;) {
      if (!outer.valid() && kinds.of(path[i])) outer = path[i];
      functions_[path[i].index] = outer;
      known[path[i].index] = true;
    }
  }
}

void CodeKinds::mark_kernels() {
  KindsByName kinds(store_, NamedCode::kKernel);
  optimizer_kernels_.resize(store_.text_count());
  for (size_t i = 0; i < store_.size(); ++i) {
    const EventId e(i);
    if (store_.kind(e) != EventKind::kKernel || kinds.of(e) != PhaseKind::kOptimizer) continue;
    optimizer_kernels_[store_.name_id(e).index] = true;
  }
}

EventId CodeKinds::function(EventId gpu_event) const {
  const CallId launch = tree_.launch(gpu_event);
  if (functions_.empty() || !launch.valid()) return {};
  const EventId frame = tree_.frame(launch);
  return frame.valid() ? functions_[frame.index] : EventId{};
}

PhaseKind CodeKinds::kind_of_function(EventId frame) const {
  return kind_of_code(NamedCode::kFrame, store_.name(frame)).value_or(PhaseKind::kOther);
}

std::optional<PhaseKind> CodeKinds::training(EventId gpu_event) const {
  const CallId launch = tree_.launch(gpu_event);
  const uint8_t flags = launch.valid() ? calls_[launch.index] : 0;
  if ((flags & kInOptimizer) != 0) return PhaseKind::kOptimizer;
  if (launch.valid() && tree_.event(launch) != gpu_event &&
      is_backward_thread(store_.track_id(tree_.event(launch)))) {
    return PhaseKind::kBackward;
  }
  if ((flags & kInBackward) != 0) return PhaseKind::kBackward;
  if (has_backward_ && optimizer_kernels_[store_.name_id(gpu_event).index])
    return PhaseKind::kOptimizer;
  // What the host reads, such as a loss after the optimiser, is numbered too.
  const bool is_read = store_.kind(gpu_event) == EventKind::kMemcpy &&
                       store_.name(gpu_event).find("DtoH") != std::string_view::npos;
  if (has_backward_ && (flags & kNumbered) != 0 && !is_read) return PhaseKind::kForward;
  return std::nullopt;
}

}  // namespace fathom
