#include "analyze/traits.h"

#include <algorithm>

#include "analyze/finding_parts.h"
#include "cost/element_type.h"

namespace fathom {
namespace {

// Everything that a trait may be read from: one op with one set of arguments.
struct Seen {
  const Assessment& assessment;
  const AssessedOp& op;
  const OpArgs& args;
  bool in_compiled_region;

  std::string_view name() const { return op.group->key.name; }
  bool any_kernel(std::initializer_list<std::string_view> words) const {
    const EventStore& store = assessment.input().store;
    return std::ranges::any_of(op.group->first().kernels, [&](EventId kernel) {
      return std::ranges::any_of(words, [&](std::string_view word) {
        return store.name(kernel).find(word) != std::string_view::npos;
      });
    });
  }
};

std::vector<const ArgValue*> tensors_of(const OpArgs& args) {
  std::vector<const ArgValue*> tensors;
  for (const ArgValue& value : args.inputs) {
    if (value.is_tensor()) tensors.push_back(&value);
  }
  return tensors;
}

// One row of images, channels innermost. Of images with one channel or one pixel both layouts are
// the same.
bool is_channels_last(const ArgValue::Shape& shape) {
  if (shape.dims.size() < 4 || shape.strides.size() != shape.dims.size()) return false;
  const int64_t channels = shape.dims[1];
  return shape.strides[1] == 1 && shape.strides.back() == channels && channels > 1;
}

bool channels_last(const Seen& seen) {
  for (const ArgValue* tensor : tensors_of(seen.args)) {
    if (tensor->shape.dims.size() < 4) continue;
    if (!tensor->shape.strides.empty()) return is_channels_last(tensor->shape);
  }
  // The trace has no strides. A kernel that transposes has the layout in its name, too, and shows
  // the opposite.
  return seen.any_kernel({"nhwc", "channels_last"}) &&
         !seen.any_kernel({"nchwToNhwc", "nhwcToNchw", "batched_transpose"});
}

// Every place once, in whatever order of the dimensions.
bool is_dense(const ArgValue::Shape& shape) {
  std::vector<std::pair<int64_t, int64_t>> by_stride;
  for (size_t i = 0; i < shape.dims.size(); ++i) {
    if (shape.dims[i] != 1) by_stride.emplace_back(shape.strides[i], shape.dims[i]);
  }
  std::ranges::sort(by_stride);
  int64_t expected = 1;
  for (const auto& [stride, dim] : by_stride) {
    if (stride != expected) return false;
    if (__builtin_mul_overflow(expected, dim, &expected)) return false;
  }
  return true;
}

enum class Layout { kUnknown, kContiguous, kStrided };

// Contiguous: operands are dense, and those of one shape have one order of dimensions.
Layout layout_of(const Seen& seen) {
  const std::vector<const ArgValue*> tensors = tensors_of(seen.args);
  if (tensors.empty()) return Layout::kUnknown;
  for (const ArgValue* tensor : tensors) {
    const ArgValue::Shape &shape = tensor->shape, &first = tensors.front()->shape;
    if (shape.strides.size() != shape.dims.size()) return Layout::kUnknown;
    if (!is_dense(shape) || (shape.dims == first.dims && shape.strides != first.strides)) {
      return Layout::kStrided;
    }
  }
  return Layout::kContiguous;
}

bool narrow_type(const Seen& seen) {
  for (const ArgValue* tensor : tensors_of(seen.args)) {
    const ElementType* type = find_element_type(tensor->type);
    if (type != nullptr && type->is_float) return type->bits <= 16;
  }
  return false;
}

bool fp8(const Seen& seen) {
  return seen.op.group->cost && (seen.op.group->cost->spec.ends_with("_fp8") ||
                                 seen.op.group->cost->spec.ends_with("_fp4"));
}

bool casts(const Seen& seen) {
  const std::vector<const ArgValue*> tensors = tensors_of(seen.args);
  return tensors.size() >= 2 && tensors[0]->type != tensors[1]->type;
}

bool whole_tiles(const Seen& seen) {
  constexpr int64_t kTile = 128;
  if (!seen.op.group->cost) return false;
  bool any = false;
  for (const CostParam& param : seen.op.group->cost->params) {
    if (param.name != "M" && param.name != "N" && param.name != "K") continue;
    if (integer_param(*seen.op.group->cost, param.name).value_or(1) % kTile != 0) return false;
    any = true;
  }
  return any;
}

// Input or output channels that are no multiple of 8.
bool odd_channels(const Seen& seen) {
  for (const ArgValue* tensor : tensors_of(seen.args)) {
    if (tensor->shape.dims.size() < 4) continue;
    if (tensor->shape.dims[1] % 8 != 0) return true;
  }
  return false;
}

bool fused_attention(const Seen& seen) {
  return seen.any_kernel({"flash", "fmha", "sdpa", "attention", "attn", "Attention"});
}

// Query, key, value and then a mask or bias.
bool dense_mask(const Seen& seen) {
  const ArgValue* mask = seen.args.at(3);
  return mask != nullptr && mask->shape.dims.size() >= 2 && mask->shape.dims.back() > 1;
}

bool one_query(const Seen& seen) {
  const ArgValue* query = seen.args.at(0);
  return query != nullptr && query->shape.dims.size() == 4 && query->shape.dims[2] == 1;
}

bool training(const Seen& seen) {
  if (seen.name().find("backward") != std::string_view::npos) return true;
  const ArgValue* flag = seen.args.at(5);
  return flag != nullptr && flag->concrete == "True";
}

bool is_compiled_region(std::string_view name) {
  return name.starts_with("Torch-Compiled Region") || name.starts_with("CompiledFunction") ||
         name.starts_with("triton_");
}

bool compiled(const Seen& seen) {
  return seen.in_compiled_region || is_compiled_region(seen.name());
}

// By call, the regions themselves among them.
std::vector<bool> calls_in_compiled_regions(const SheetInput& input) {
  std::vector<bool> region(input.store.text_count()), inside(input.tree.size());
  for (size_t i = 0; i < region.size(); ++i) {
    region[i] = is_compiled_region(input.store.text(StringId(i)));
  }
  for (CallId c(0); c.index < input.tree.size(); ++c.index) {
    const CallId parent = input.tree.parent(c);
    inside[c.index] = region[input.store.name_id(input.tree.event(c)).index] ||
                      (parent.valid() && inside[parent.index]);
  }
  return inside;
}

struct TraitRule {
  std::string_view name;
  bool (*holds)(const Seen&);
  double share;  // of the ops' time for which it must hold
};

constexpr double kMost = 0.5, kSome = 0.1;
constexpr TraitRule kRules[] = {
    {"channels_last", channels_last, kMost},
    {"contiguous", [](const Seen& s) { return layout_of(s) == Layout::kContiguous; }, kMost},
    {"strided", [](const Seen& s) { return layout_of(s) == Layout::kStrided; }, kMost},
    {"narrow_type", narrow_type, kMost},
    {"fp8", fp8, kMost},
    {"casts", casts, kMost},
    {"whole_tiles", whole_tiles, kMost},
    {"odd_channels", odd_channels, kSome},
    {"fused_attention", fused_attention, kMost},
    {"dense_mask", dense_mask, kSome},
    {"one_query", one_query, kSome},
    {"training", training, kMost},
    {"compiled", compiled, kMost},
};

}  // namespace

std::span<const std::string_view> trait_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> list;
    for (const TraitRule& rule : kRules) list.push_back(rule.name);
    list.insert(list.end(), {"graphs_used",
                             "on_host",
                             "pytorch",
                             "small_collectives",
                             "large_collectives",
                             "slow_collectives",
                             "communication_bound",
                             "inline_collectives",
                             "has_tf32",
                             "weights",
                             "rows",
                             "cut",
                             "room",
                             "packed",
                             "small_copies",
                             "same_bytes",
                             "host_copies",
                             "pageable",
                             "widened",
                             "deterministic",
                             "each_step",
                             "no_cache",
                             "repeated",
                             "repeated_rows",
                             "forward_again",
                             "enlarged",
                             "shared_operand",
                             "of_linear",
                             "small_groups",
                             "index",
                             "own_function",
                             "gradients",
                             "diagonal",
                             "gathered",
                             "inverse",
                             "unchanged",
                             "tool",
                             "one_warp",
                             "reads_value",
                             "sized_by_values",
                             "to_host",
                             "from_pageable",
                             "blocking_copy",
                             "asked_for",
                             "checks",
                             "whole_model",
                             "convolutions"});
    return list;
  }();
  return names;
}

static_assert(std::size(kRules) <= 32, "a bit for each rule");

OpTraits::OpTraits(const Assessment& a)
    : a_(a), in_compiled_region_(calls_in_compiled_regions(a.input())), rules_(a.ops().size()) {}

uint32_t OpTraits::rules_of(const AssessedOp& op) {
  std::optional<uint32_t>& known = rules_[static_cast<size_t>(&op - a_.ops().data())];
  if (known) return *known;
  const EventStore& store = a_.input().store;
  const EventId event = op.group->first().event;
  const auto args = read_op_args(store, store.args_id(event));
  const OpArgs none;
  const CallId call = a_.input().tree.call(event);
  const Seen seen{a_, op, args ? *args : none, call.valid() && in_compiled_region_[call.index]};
  uint32_t rules = 0;
  for (size_t i = 0; i < std::size(kRules); ++i) rules |= uint32_t{kRules[i].holds(seen)} << i;
  known = rules;
  return rules;
}

Traits OpTraits::of(std::span<const AssessedOp* const> ops) {
  std::vector<double> times(std::size(kRules), 0.0);
  double all = 0;
  for (const AssessedOp* op : ops) {
    const auto time = static_cast<double>(op->group->gpu.sum.count);
    const uint32_t rules = rules_of(*op);
    all += time;
    for (size_t i = 0; i < std::size(kRules); ++i) times[i] += (rules >> i & 1) != 0 ? time : 0;
  }
  Traits traits;
  for (size_t i = 0; i < std::size(kRules); ++i) {
    if (times[i] > kRules[i].share * all) traits.add(kRules[i].name);
  }
  return traits;
}

Traits traits_of(const Assessment& a) {
  const EventStore& store = a.input().store;
  Traits traits;
  std::vector<bool> seen(store.text_count());  // launches, by name
  for (EventId e : a.input().selection.linked()) {
    if (store.name(e).starts_with("triton_")) traits.add("compiled");
    const StringId launch = store.name_id(a.input().tree.event(a.input().tree.launch(e)));
    if (seen[launch.index]) continue;
    seen[launch.index] = true;
    if (store.text(launch).find("GraphLaunch") != std::string_view::npos) traits.add("graphs_used");
  }
  return traits;
}

}  // namespace fathom
