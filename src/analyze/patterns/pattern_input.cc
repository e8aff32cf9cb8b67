#include "analyze/patterns/pattern_input.h"

#include <algorithm>
#include <set>

#include "base/glob.h"
#include "base/tsv.h"
#include "tree/steps.h"

extern const std::string_view roles_tsv;

namespace fathom::patterns {
namespace {

constexpr std::string_view kRoleNames[] = {"softmax",
                                           "softmax_gradient",
                                           "attention",
                                           "dropout",
                                           "copy",
                                           "cat",
                                           "one_hot",
                                           "diagonal",
                                           "gather",
                                           "sort",
                                           "first_of_sorted",
                                           "repeat",
                                           "atomic",
                                           "create",
                                           "table",
                                           "fill",
                                           "update",
                                           "fused_update",
                                           "makes_weight",
                                           "packs_weights",
                                           "chooses",
                                           "needs_wide",
                                           "fallback",
                                           "allocates"};
static_assert(std::size(kRoleNames) == static_cast<size_t>(Role::kCount));
static_assert(std::size(kRoleNames) <= 32, "a bit for each role");

struct RoleRow {
  uint32_t bit;
  std::string_view op;
};

const std::vector<RoleRow>& role_rows() {
  static const std::vector<RoleRow> all = [] {
    std::vector<RoleRow> list;
    for (const auto& row : read_tsv(roles_tsv, 2)) {
      for (size_t i = 0; i < std::size(kRoleNames); ++i) {
        if (kRoleNames[i] == row[0]) list.push_back({uint32_t{1} << i, row[1]});
      }
    }
    return list;
  }();
  return all;
}

constexpr int kCallsAround = 16;
constexpr size_t kLongArguments = 4096;  // bytes

// Marked steps; else the range of the program that occurs most, so that what runs once in each is
// not taken for a loop.
size_t count_steps(const EventStore& store) {
  if (const size_t marked = Steps(store, kProfilerSteps).all().size(); marked > 0) return marked;
  std::vector<size_t> times(store.text_count());
  size_t most = 1;
  for (size_t i = 0; i < store.size(); ++i) {
    const EventId e(i);
    if (store.kind(e) != EventKind::kAnnotation || !store.name_id(e).valid()) continue;
    if (store.name(e).starts_with("## Call CompiledFxGraph")) continue;
    most = std::max(most, ++times[store.name_id(e).index]);
  }
  return most;
}

}  // namespace

uint32_t roles_of(std::string_view op) {
  uint32_t roles = 0;
  for (const RoleRow& row : role_rows()) {
    if (glob_matches(row.op, op)) roles |= row.bit;
  }
  return roles;
}

const ArgValue* OpView::tensor(size_t n) const {
  for (const ArgValue& value : args.inputs) {
    if (value.is_tensor() && n-- == 0) return &value;
  }
  return nullptr;
}

PatternInput::PatternInput(const Assessment& assessment)
    : a_(assessment), views_(assessment.ops().size()), products_(assessment.ops().size()) {
  const EventStore& events = store();
  names_read_.assign(events.text_count(), false);
  roles_.assign(events.text_count(), 0);
  for (CallId c(0); c.index < tree().size(); ++c.index) {
    const StringId name = events.name_id(tree().event(c));
    if (!name.valid() || names_read_[name.index]) continue;
    names_read_[name.index] = true;
    const std::string_view text = events.text(name);
    roles_[name.index] = roles_of(text);
    has_backward_ = has_backward_ || text.find("Backward") != std::string_view::npos ||
                    text.find("_backward") != std::string_view::npos;
  }
  steps_ = count_steps(events);
  // Without marks, what repeats is a step.
  if (steps_ == 1 && a_.base().kind == TimeBaseKind::kRepetition)
    steps_ = std::max<size_t>(1, a_.base().steps.size());
  if (const Platform* platform = a_.platform()) {
    if (const auto limit = limit_of(platform->memory_bandwidth)) memory_rate_ = limit->rate;
    compute_units_ = platform->compute_units;
  }
  for (const GpuProperties& gpu : events.metadata().gpus) {
    if (!compute_units_) compute_units_ = gpu.multiprocessors;
  }
}

const OpView& PatternInput::view(const AssessedOp& op) const {
  std::optional<OpView>& slot = views_[static_cast<size_t>(&op - a_.ops().data())];
  if (!slot) {
    slot.emplace();
    // "aten::sort->kernel (Synthetic Op)" stands for a kernel of the op. It has the op's arguments:
    // long ones are not read again for each of them.
    const std::string_view name = op.group->key.name;
    const size_t kernel = name.find("->");
    const EventId first = op.group->first().event;
    const StringId known = store().name_id(first);
    const bool is_read = known.valid() && names_read_[known.index];
    slot->roles = is_read && store().text(known) == name.substr(0, kernel)
                      ? roles_[known.index]
                      : roles_of(name.substr(0, kernel));
    const ArgsId id = store().args_id(first);
    const bool is_long = id.valid() && store().text(store().args(id).dims).size() > kLongArguments;
    if (kernel != std::string_view::npos && is_long) return *slot;
    if (auto args = read_op_args(store(), id)) slot->args = std::move(*args);
    for (const ArgValue& value : slot->args.inputs) {
      if (!value.is_tensor()) continue;
      slot->has_double =
          slot->has_double || is_float_type(value, 64) || is_complex_type(value, 128);
      slot->has_float = slot->has_float || is_float_type(value, 32) || is_complex_type(value, 64);
      slot->has_half = slot->has_half || is_float_type(value, 16);
    }
  }
  return *slot;
}

const std::optional<ProductSize>& PatternInput::product(const AssessedOp& op) const {
  auto& slot = products_[static_cast<size_t>(&op - a_.ops().data())];
  if (slot) return *slot;
  slot.emplace();
  if (op.category != "gemm" || !op.group->cost) return *slot;
  const Cost& cost = *op.group->cost;
  const auto m = integer_param(cost, "M"), n = integer_param(cost, "N"),
             k = integer_param(cost, "K");
  if (m && n && k) *slot = ProductSize{integer_param(cost, "B").value_or(1), *m, *n, *k};
  return *slot;
}

std::optional<CallId> PatternInput::around(EventId event, Role role) const {
  CallId call = tree().call(event);
  for (int i = 0; i < kCallsAround && call.valid(); ++i, call = tree().parent(call)) {
    const StringId name = store().name_id(tree().event(call));
    if (name.valid() && has_role(roles_[name.index], role)) return call;
  }
  return {};
}

bool PatternInput::any_around(EventId event, std::string_view glob) const {
  CallId call = tree().call(event);
  for (int i = 0; i < kCallsAround && call.valid(); ++i, call = tree().parent(call)) {
    if (glob_matches(glob, store().name(tree().event(call)))) return true;
  }
  return false;
}

EventId PatternInput::user_frame(EventId event) const {
  const CallId call = tree().call(event);
  EventId frame = call.valid() ? tree().frame(call) : EventId{};
  for (int i = 0; i < kCallsAround && frame.valid(); ++i, frame = tree().parent_frame(frame)) {
    const std::string_view name = store().name(frame);
    const bool of_torch = name.starts_with('<') || name.starts_with("torch/") ||
                          name.starts_with("nn.Module: ") || name.starts_with("typing.py");
    if (!of_torch) return frame;
  }
  return {};
}

bool PatternInput::any_kernel(const UnifiedOp& call,
                              std::span<const std::string_view> words) const {
  for (EventId kernel : call.kernels) {
    const std::string_view name = store().name(kernel);
    for (std::string_view word : words) {
      if (name.find(word) != std::string_view::npos) return true;
    }
  }
  return false;
}

std::optional<double> bytes_of(const ArgValue& tensor) {
  const ElementType* type = find_element_type(tensor.type);
  const std::optional<int64_t> count = element_count(tensor.shape.dims);
  if (type == nullptr || !count) return {};
  return static_cast<double>(*count) * type->bytes();
}

bool is_float_type(const ArgValue& tensor, int bits) {
  const ElementType* type = find_element_type(tensor.type);
  const bool complex = tensor.type.find("omplex") != std::string::npos;
  return type != nullptr && type->is_float && !complex && type->bits == bits;
}

bool is_complex_type(const ArgValue& tensor, int bits) {
  const ElementType* type = find_element_type(tensor.type);
  const bool complex = tensor.type.find("omplex") != std::string::npos;
  return type != nullptr && complex && type->bits == bits;
}

int64_t elements_of(const ArgValue& tensor) { return element_count(tensor.shape.dims).value_or(0); }

bool is_integer_type(const ArgValue& tensor) {
  const ElementType* type = find_element_type(tensor.type);
  return type != nullptr && !type->is_float;
}

size_t PatternInput::step_of(Nanos when) const {
  const std::vector<BaseStep>& steps = a_.base().steps;
  return static_cast<size_t>(std::ranges::upper_bound(steps, when, {}, &BaseStep::begin) -
                             steps.begin());
}

const std::vector<PatternInput::CutTensor>& PatternInput::cut_tensors() const {
  constexpr std::string_view kCuts[] = {
      "aten::slice", "aten::select", "aten::narrow",       "aten::split",
      "aten::chunk", "aten::unbind", "aten::unsafe_split", "aten::split_with_sizes"};
  if (cut_) return *cut_;
  std::set<CutTensor> cut;
  std::vector<uint8_t> cuts(store().text_count());  // by name: 1 no, 2 yes
  for (CallId c(0); c.index < tree().size(); ++c.index) {
    const EventId e = tree().event(c);
    if (store().kind(e) != EventKind::kCpuOp || !store().name_id(e).valid()) continue;
    uint8_t& known = cuts[store().name_id(e).index];
    if (known == 0) known = std::ranges::find(kCuts, store().name(e)) != std::end(kCuts) ? 2 : 1;
    if (known == 1) continue;
    const auto args = read_op_args(store(), store().args_id(e));
    if (!args || args->inputs.empty() || !args->inputs[0].is_tensor()) continue;
    const ArgValue& whole = args->inputs[0];
    cut.insert({elements_of(whole), whole.shape.dims.back(), is_integer_type(whole)});
  }
  return cut_.emplace(cut.begin(), cut.end());
}

}  // namespace fathom::patterns
