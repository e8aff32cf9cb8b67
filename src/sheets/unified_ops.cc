#include "sheets/unified_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <unordered_set>

#include "base/hash.h"
#include "base/utf8.h"
#include "cost/op_catalog.h"
#include "tree/forward_backward.h"

namespace fathom {
namespace {

// How far above a gradient's op autograd's own event may stand.
constexpr int kAutogradLevels = 5;
// How far below an op of torch.func the op that runs may stand.
constexpr int kTransformLevels = 12;
// Of the op's name in that of its kernels: each kernel repeats it.
constexpr size_t kParentBytes = 512;

class Collector {
 public:
  Collector(const SheetInput& input, const std::vector<Launcher>& launchers)
      : input_(input),
        forward_(link_backward_to_forward(input.store)),
        launchers_(input.tree, launchers) {
    for (size_t i = 0; i < store().text_count(); ++i) {
      modelled_name_.push_back(OpCatalog::built_in().is_modelled(store().text(StringId(i))));
    }
    look_below();
    find_sole_gradients();
  }

  std::vector<UnifiedOp> collect();

 private:
  const EventStore& store() const { return input_.store; }
  const CallTree& tree() const { return input_.tree; }
  std::string_view name(CallId call) const { return store().name(tree().event(call)); }
  bool is_op(CallId call) const { return store().kind(tree().event(call)) == EventKind::kCpuOp; }
  bool has_gpu_work(CallId call) const {
    return input_.selection.any(tree().launched_in_subtree(call));
  }
  bool is_modelled(CallId call) const {
    return modelled_name_[store().name_id(tree().event(call)).index];
  }

  std::vector<CallId> roots() const;
  void walk(CallId root);
  bool is_wrapper(CallId op) const;
  CallId sole_child_with_work(CallId op) const;
  bool is_transformed(CallId op);
  bool take_whole(CallId op);
  void look_below();
  void find_sole_gradients();
  std::string_view gradient_of(CallId autograd) const;
  bool modelled_below(CallId op) const {
    return modelled_before_[tree().subtree_end(op).index] > modelled_before_[op.index + 1];
  }
  EventId forward_of_sole_gradient(CallId op) const;
  void take(CallId op, bool has_model, EventId forward = {});
  void take_remaining();
  std::string_view category_of(std::string_view op_name, CallId launcher) const;

  const SheetInput& input_;
  std::unordered_map<EventId, EventId> forward_;
  LauncherIndex launchers_;
  std::vector<bool> modelled_name_;        // by name
  std::vector<uint32_t> modelled_before_;  // modelled ops with GPU work up to a call
  std::vector<bool> launches_itself_;      // by call
  std::unordered_set<EventId> sole_gradients_;
  CallId transformed_;  // the last op that is_transformed() found
  std::vector<UnifiedOp> taken_;
};

// Ops with no op above them, in the order of time over all threads.
std::vector<CallId> Collector::roots() const {
  std::vector<CallId> roots;
  for (size_t i = 0; i < tree().size(); ++i) {
    const CallId call(i);
    if (is_op(call) && !tree().enclosing_op(tree().parent(call)).valid()) roots.push_back(call);
  }
  std::ranges::sort(roots, [this](CallId a, CallId b) {
    const EventId x = tree().event(a), y = tree().event(b);
    return std::tuple(store().start(x), x) < std::tuple(store().start(y), y);
  });
  return roots;
}

// What is asked of every op, and would otherwise be a walk over all that is below it.
void Collector::look_below() {
  modelled_before_.reserve(tree().size() + 1);
  uint32_t modelled = 0;
  for (CallId c(0); c.index < tree().size(); ++c.index) {
    modelled_before_.push_back(modelled);
    modelled += is_op(c) && is_modelled(c) && has_gpu_work(c);
  }
  modelled_before_.push_back(modelled);
  launches_itself_.resize(tree().size());
  for (EventId kernel : input_.selection.linked()) {
    const CallId op = tree().enclosing_op(tree().launch(kernel));
    if (op.valid()) launches_itself_[op.index] = true;
  }
}

// "autograd::engine::evaluate_function: NAME" says what the gradient's op is called.
std::string_view Collector::gradient_of(CallId autograd) const {
  const std::string_view wrapper = name(autograd);
  const size_t colon = wrapper.find(": ");
  return colon == std::string_view::npos ? wrapper : wrapper.substr(colon + 2);
}

// Finds the autograd events below which one op alone, with GPU work, has the gradient's name, and
// whose forward op has a model that covers the gradient.
void Collector::find_sole_gradients() {
  if (forward_.empty()) return;
  std::unordered_map<std::string_view, std::vector<CallId>, TableHash> by_gradient;
  for (const auto& [autograd, forward] : forward_) {
    by_gradient.try_emplace(gradient_of(tree().call(autograd)));
  }
  std::vector<std::vector<CallId>*> by_name(store().text_count(), nullptr);
  for (size_t i = 0; i < by_name.size(); ++i) {
    const auto found = by_gradient.find(store().text(StringId(i)));
    if (found != by_gradient.end()) by_name[i] = &found->second;
  }
  for (CallId c(0); c.index < tree().size(); ++c.index) {
    std::vector<CallId>* calls = by_name[store().name_id(tree().event(c)).index];
    if (calls != nullptr && is_op(c) && has_gpu_work(c)) calls->push_back(c);
  }
  for (const auto& [event, forward] : forward_) {
    const OpFacts* facts = OpCatalog::built_in().find(store().name(forward));
    if (facts == nullptr || !facts->has_cost_model || facts->backward.empty()) continue;
    const CallId autograd = tree().call(event);
    const std::vector<CallId>& calls = by_gradient.find(gradient_of(autograd))->second;
    const auto first = std::ranges::upper_bound(calls, autograd);
    const auto end = std::ranges::lower_bound(calls, tree().subtree_end(autograd));
    if (end - first == 1) sole_gradients_.insert(event);
  }
}

// The forward op, if `op` is the one op that computes its gradient and the model covers it.
EventId Collector::forward_of_sole_gradient(CallId op) const {
  CallId autograd = tree().parent(op);
  for (int level = 1; autograd.valid() && level < kAutogradLevels; ++level) {
    if (forward_.contains(tree().event(autograd))) break;
    autograd = tree().parent(autograd);
  }
  if (!autograd.valid() || !sole_gradients_.contains(tree().event(autograd))) return {};
  return forward_.find(tree().event(autograd))->second;
}

// autocast records an op with the types that it was called with, and below it the casts and the op
// itself in half precision.
bool Collector::is_wrapper(CallId op) const {
  if (launches_itself_[op.index]) return false;
  const auto types = [this](CallId c) {
    const ArgsId args = store().args_id(tree().event(c));
    const StringId text = args.valid() ? store().args(args).types : StringId{};
    return text.valid() ? store().text(text) : std::string_view{};
  };
  const auto has_single = [](std::string_view text) { return text.find("\"float\"") != text.npos; };
  for (CallId c(op.index + 1); c < tree().subtree_end(op); c = tree().subtree_end(c)) {
    const bool is_same = is_op(c) && name(c) == name(op) && has_gpu_work(c);
    if (is_same && has_single(types(op)) && !types(c).empty() && !has_single(types(c))) return true;
  }
  return false;
}

// Elements of the first operand: 6 of "[[2, 3], [3, 256]]". 0 where none is known.
double first_operand_size(std::string_view dims) {
  if (!dims.starts_with("[[")) return 0;
  double size = 1;
  for (std::string_view rest = dims.substr(2); !rest.empty();) {
    int64_t extent = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), extent);
    if (error != std::errc()) return 0;
    size *= static_cast<double>(extent);
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    if (rest.starts_with(']')) return size;
    rest.remove_prefix(std::min(rest.size(), rest.starts_with(", ") ? size_t{2} : size_t{1}));
  }
  return 0;
}

// "[[1,3]]" and "[[1,3],[1,3]]", with or without a space behind the comma.
bool is_listed_twice(std::string_view once, std::string_view twice) {
  if (once.size() < 3 || twice.size() < 2 * once.size() - 1 || twice.size() > 2 * once.size())
    return false;
  return twice.starts_with(once.substr(0, once.size() - 1)) && twice.ends_with(once.substr(1));
}

CallId Collector::sole_child_with_work(CallId op) const {
  CallId found;
  for (CallId c(op.index + 1); c < tree().subtree_end(op); c = tree().subtree_end(c)) {
    if (!has_gpu_work(c)) continue;
    if (found.valid()) return {};
    found = c;
  }
  return found;
}

// vmap and grad of torch.func record an op with the sizes it was called with, below it the same op
// for each transform, in the forward pass with its arguments listed twice, and below these the op
// that runs, with the batch's sizes.
bool Collector::is_transformed(CallId op) {
  if (launches_itself_[op.index] || !modelled_below(op)) return false;
  const CallId child = sole_child_with_work(op);
  if (!child.valid() || !is_op(child)) return false;
  const auto dims = [this](CallId c) {
    const ArgsId args = store().args_id(tree().event(c));
    const StringId text = args.valid() ? store().args(args).dims : StringId{};
    return text.valid() ? store().text(text) : std::string_view{};
  };
  bool is_first = name(child) == name(op) && is_listed_twice(dims(op), dims(child));
  const double size = first_operand_size(dims(op));
  CallId below = child;
  for (int level = 0; !is_first && below.valid() && level < kTransformLevels; ++level) {
    is_first = is_op(below) && name(below) == name(op) && first_operand_size(dims(below)) > size;
    below = sole_child_with_work(below);
  }
  const CallId parent = tree().parent(op);
  const bool is_next = parent.valid() && parent == transformed_ && name(parent) == name(op);
  if (!is_first && !is_next) return false;
  transformed_ = op;
  return true;
}

// True when the op was taken, and nothing below it is to be looked at.
bool Collector::take_whole(CallId op) {
  if (is_modelled(op) && !is_wrapper(op) && !is_transformed(op)) {
    take(op, true);
    return true;
  }
  if (modelled_below(op)) return false;
  const EventId forward = forward_of_sole_gradient(op);
  if (!forward.valid() && !launches_itself_[op.index]) return false;
  take(op, forward.valid(), forward);
  return true;
}

// Preorder with jumps, not recursion: call stacks are as deep as the program made them.
void Collector::walk(CallId root) {
  for (CallId c = root; c < tree().subtree_end(root);) {
    if (is_op(c) && (!has_gpu_work(c) || take_whole(c))) {
      c = tree().subtree_end(c);
    } else {
      ++c.index;
    }
  }
}

std::string_view Collector::category_of(std::string_view op_name, CallId launcher) const {
  const Launcher* found = launchers_.find(launcher);
  return OpCatalog::built_in().category(
      op_name, found == nullptr ? "" : store().name(found->kernels.front()));
}

void Collector::take(CallId op, bool has_model, EventId forward) {
  const std::span<const EventId> work = input_.selection.among(tree().launched_in_subtree(op));
  std::vector<EventId> kernels(work.begin(), work.end());
  const bool communicates = std::ranges::any_of(
      kernels, [this](EventId k) { return input_.selection.is_communication(k); });
  if (communicates && !has_model) return;
  const EventId event = tree().event(op);
  const std::string_view category =
      forward.valid() ? OpCatalog::built_in().find(store().name(forward))->backward
                      : category_of(name(op), op);
  taken_.push_back({event, store().uid(event), std::string(name(op)), category, std::move(kernels),
                    has_model, forward});
}

void Collector::take_remaining() {
  std::vector<bool> seen(store().size());
  for (const UnifiedOp& op : taken_) {
    for (EventId kernel : op.kernels) seen[kernel.index] = true;
  }
  std::vector<EventId> with_op, without_op;
  for (EventId kernel : input_.selection.linked()) {
    // Collectives have a sheet of their own; where kernels are the rows they belong among them.
    if (seen[kernel.index] || (tree().has_ops() && input_.selection.is_communication(kernel)))
      continue;
    const bool has_op = tree().enclosing_op(tree().launch(kernel)).valid();
    (has_op ? with_op : without_op).push_back(kernel);
  }
  int64_t uid = store().entries();
  for (std::vector<EventId>* kernels : {&without_op, &with_op}) {
    std::ranges::sort(*kernels);
    for (EventId kernel : *kernels) {
      const CallId launch = tree().launch(kernel);
      const CallId op = tree().enclosing_op(launch);
      const CallId parent = op.valid() ? op : launch;
      // Where nothing records ops, all work would be the launch's: the kernel tells more.
      std::string synthetic =
          tree().has_ops()
              ? fmt::format("{}->{} (Synthetic Op)", cut_to_bytes(name(parent), kParentBytes),
                            store().name(kernel))
              : std::string(store().name(kernel));
      const std::string_view category = category_of(synthetic, parent);
      taken_.push_back(
          {tree().event(parent), uid++, std::move(synthetic), category, {kernel}, false, {}});
    }
  }
}

std::vector<UnifiedOp> Collector::collect() {
  for (CallId root : roots()) walk(root);
  take_remaining();
  return std::move(taken_);
}

}  // namespace

bool is_copied(const EventStore& store, const UnifiedOp& op) {
  return !op.kernels.empty() && std::ranges::all_of(op.kernels, [&store](EventId kernel) {
    return store.kind(kernel) == EventKind::kMemcpy;
  });
}

std::vector<UnifiedOp> find_unified_ops(const SheetInput& input,
                                        const std::vector<Launcher>& launchers) {
  return Collector(input, launchers).collect();
}

}  // namespace fathom
