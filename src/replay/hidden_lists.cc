#include "replay/hidden_lists.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <tuple>

#include "replay/replay_arguments.h"
#include "replay/tensor_types.h"

extern const std::string_view replay_parameter_lists_tsv;

namespace fathom {
namespace {

constexpr std::string_view kIndex = "aten::index", kRestride = "aten::as_strided";
constexpr std::string_view kGradient = "torch::autograd::AccumulateGrad";
constexpr std::string_view kOverLists = "multi_tensor_apply_kernel";
// Elements that a block of such a kernel takes: kChunkSize in ATen's MultiTensorApply.cuh.
constexpr int64_t kChunk = 65536;

struct ListRow {
  std::string_view op, holds;
  size_t argument = 0;
  std::optional<size_t> when_true;
};

std::string_view take_field(std::string_view& line) {
  const size_t end = std::min(line.find('\t'), line.size());
  const std::string_view field = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return field;
}

std::optional<size_t> read_place(std::string_view text) {
  size_t place = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), place);
  if (error != std::errc() || stop != text.data() + text.size()) return {};
  return place;
}

std::vector<ListRow> read_rows(std::string_view tsv) {
  std::vector<ListRow> rows;
  while (!tsv.empty()) {
    const size_t end = std::min(tsv.find('\n'), tsv.size());
    std::string_view line = tsv.substr(0, end);
    tsv.remove_prefix(std::min(end + 1, tsv.size()));
    if (line.starts_with('#') || line.empty()) continue;
    ListRow row;
    row.op = take_field(line);
    const std::optional<size_t> argument = read_place(take_field(line));
    if (!argument) continue;  // the heading
    row.argument = *argument;
    row.holds = take_field(line);
    row.when_true = read_place(take_field(line));
    rows.push_back(row);
  }
  return rows;
}

const std::vector<ListRow>& list_rows() {
  static const std::vector<ListRow> rows = read_rows(replay_parameter_lists_tsv);
  return rows;
}

bool has_parameter_lists(std::string_view op) {
  return std::ranges::any_of(list_rows(), [op](const ListRow& row) { return row.op == op; });
}

// What aten::index makes of its first argument before it gathers: the dimensions that are indexed
// give way to those of the indices, whose stride is 0. From both, the sizes of the indices and how
// many there were; nothing unless they stood at the front, since a list with a gap (x[:, i]) has a
// None that only the program knows the place of.
std::optional<std::vector<ReplayTensor>> indices_from(const std::vector<int64_t>& self,
                                                      const std::vector<int64_t>& sizes,
                                                      const std::vector<int64_t>& strides) {
  if (sizes.size() != strides.size()) return {};
  const size_t replaced = static_cast<size_t>(
      std::ranges::find_if(strides, [](int64_t s) { return s != 0; }) - strides.begin());
  const size_t kept = sizes.size() - replaced;
  if (replaced == 0 || kept >= self.size()) return {};
  if (!std::equal(sizes.end() - static_cast<std::ptrdiff_t>(kept), sizes.end(),
                  self.end() - static_cast<std::ptrdiff_t>(kept))) {
    return {};
  }
  const std::vector<int64_t> dims(sizes.begin(),
                                  sizes.begin() + static_cast<std::ptrdiff_t>(replaced));
  const std::optional<ReplayTensor> index = tensor_of({dims, {}}, "int64");
  if (!index) return {};
  return std::vector<ReplayTensor>(self.size() - kept, *index);
}

// Blocks of the kernels that go through lists; nothing where a grid is not recorded.
std::optional<int64_t> blocks_over_lists(const EventStore& store,
                                         std::span<const EventId> kernels) {
  int64_t blocks = 0;
  for (EventId kernel : kernels) {
    if (store.name(kernel).find(kOverLists) == std::string_view::npos) continue;
    if (!store.gpu_work(kernel).grid) return {};
    blocks += store.gpu_work(kernel).grid->x;
  }
  return blocks;
}

bool hides_first_list(const OpArgs& recorded) {
  const ArgValue* first = recorded.at(0);
  return first && first->type == "TensorList" && first->list.empty();
}

}  // namespace

HiddenLists::HiddenLists(const SheetInput& input) : input_(input) {
  const EventStore& store = input.store;
  // Names are compared once each, not once for each event.
  std::vector<std::vector<EventId>*> list_of_name(store.text_count(), nullptr);
  for (StringId name(0); name.index < store.text_count(); ++name.index) {
    if (store.text(name) == kGradient) list_of_name[name.index] = &gradients_;
    if (has_parameter_lists(store.text(name))) list_of_name[name.index] = &optimizers_;
  }
  for (EventId e(0); e.index < store.size(); ++e.index) {
    if (store.kind(e) != EventKind::kCpuOp || !store.name_id(e).valid()) continue;
    if (auto* list = list_of_name[store.name_id(e).index]) list->push_back(e);
  }
  const auto earlier = [&store](EventId a, EventId b) {
    return std::tuple(store.start(a), a) < std::tuple(store.start(b), b);
  };
  std::ranges::sort(gradients_, earlier);
  std::ranges::sort(optimizers_, earlier);
  for (EventId gradient : gradients_) {
    const std::optional<OpArgs> args = read_op_args(store, store.args_id(gradient));
    if (args && args->at(0)) parameter_sizes_.insert(args->at(0)->shape.dims);
  }
}

std::optional<FoundLists> HiddenLists::find(EventId op, std::span<const EventId> kernels) const {
  const std::string_view name = input_.store.name(op);
  if (name != kIndex && !has_parameter_lists(name)) return {};
  const std::optional<OpArgs> recorded = read_op_args(input_.store, input_.store.args_id(op));
  if (!recorded) return {};
  if (name == kIndex) return index_lists(op, *recorded);
  if (!hides_first_list(*recorded)) return {};
  return parameter_lists(op, *recorded, kernels);
}

std::optional<FoundLists> HiddenLists::index_lists(EventId op, const OpArgs& recorded) const {
  const CallId call = input_.tree.call(op);
  if (!call.valid() || recorded.inputs.size() != 2 || !recorded.inputs[1].list.empty()) return {};
  std::optional<FoundLists> found;
  for (CallId c(call.index + 1); c < input_.tree.subtree_end(call); ++c.index) {
    const EventId event = input_.tree.event(c);
    // A mask is made into indices first, which is work of its own.
    if (input_.store.name(event).starts_with("aten::nonzero")) return {};
    if (input_.store.name(event) != kRestride || found) continue;
    const auto args = read_op_args(input_.store, input_.store.args_id(event));
    if (!args || args->inputs.size() < 3) continue;
    if (args->inputs[0].shape.dims != recorded.inputs[0].shape.dims) continue;
    const auto sizes = read_int_list(args->inputs[1].concrete);
    const auto strides = read_int_list(args->inputs[2].concrete);
    if (!sizes || !strides) continue;
    auto indices = indices_from(recorded.inputs[0].shape.dims, *sizes, *strides);
    if (indices) found = FoundLists{{1, std::move(*indices)}};
  }
  return found;
}

// Those since the optimizer ran before.
std::span<const EventId> HiddenLists::gradients_before(EventId op) const {
  const auto start_of = [this](EventId e) { return input_.store.start(e); };
  const auto in_order = [this](EventId e) { return std::tuple(input_.store.start(e), e); };
  const auto own = std::ranges::lower_bound(optimizers_, in_order(op), {}, in_order);
  const auto begin =
      own == optimizers_.begin()
          ? gradients_.begin()
          : std::ranges::upper_bound(gradients_, start_of(*std::prev(own)), {}, start_of);
  const auto end = std::ranges::lower_bound(gradients_, start_of(op), {}, start_of);
  return begin < end ? std::span<const EventId>(begin, end) : std::span<const EventId>();
}

std::optional<FoundLists> HiddenLists::parameter_lists(EventId op, const OpArgs& recorded,
                                                       std::span<const EventId> kernels) const {
  const EventStore& store = input_.store;
  std::vector<ReplayTensor> parameters;
  int64_t chunks = 0;
  for (EventId gradient : gradients_before(op)) {
    const std::optional<OpArgs> args = read_op_args(store, store.args_id(gradient));
    const ArgValue* value = args ? args->at(0) : nullptr;
    const auto dtype = value ? torch_dtype(value->type) : std::nullopt;
    const auto tensor = dtype ? tensor_of(value->shape, *dtype) : std::nullopt;
    const auto elements = tensor ? element_count(tensor->dims) : std::nullopt;
    if (!elements) return {};
    chunks += *elements / kChunk + (*elements % kChunk != 0);
    parameters.push_back(*tensor);
  }
  // Several parameter groups, or gradients accumulated twice, give another sum.
  if (parameters.empty() || blocks_over_lists(store, kernels) != chunks) return {};
  // The last gradient is the first parameter's.
  std::ranges::reverse(parameters);
  FoundLists lists;
  for (const ListRow& row : list_rows()) {
    if (row.op != store.name(op)) continue;
    std::vector<ReplayTensor>& list = lists[row.argument];
    const ArgValue* only_when = row.when_true ? recorded.at(*row.when_true) : nullptr;
    if (row.when_true && (!only_when || only_when->concrete != "True")) continue;
    list = row.holds == "step"
               ? std::vector<ReplayTensor>(parameters.size(), ReplayTensor{{}, {}, "float32"})
               : parameters;
  }
  return lists;
}

std::string lists_text(const FoundLists& lists) {
  std::string text;
  for (const auto& [argument, tensors] : lists) {
    text += fmt::format("{}:", argument);
    for (const ReplayTensor& tensor : tensors)
      text += fmt::format(" [{}]", fmt::join(tensor.dims, ","));
    text += "\n";
  }
  return text;
}

}  // namespace fathom
