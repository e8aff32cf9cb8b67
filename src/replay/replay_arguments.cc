#include "replay/replay_arguments.h"

#include <algorithm>

#include "replay/python_text.h"
#include "replay/tensor_types.h"

namespace fathom {
namespace {

using Reason = ReplayRefusal::Reason;
using Place = ReplayTensor::Place;

constexpr std::string_view kCopyPrefix = "Memcpy ";

std::vector<int64_t> contiguous_strides(const std::vector<int64_t>& dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t next = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = next;
    // An overflow is found by fits_memory().
    if (__builtin_mul_overflow(next, std::max<int64_t>(dims[i], 1), &next)) next = INT64_MAX;
  }
  return strides;
}

// No negative stride, and an end that a machine could have.
bool fits_memory(const ReplayTensor& tensor) {
  constexpr int64_t kMostElements = int64_t{1} << 42;
  int64_t last = 0;
  for (size_t i = 0; i < tensor.dims.size(); ++i) {
    int64_t reach = 0;
    if (tensor.dims[i] < 0 || tensor.strides[i] < 0) return false;
    if (tensor.dims[i] == 0) return true;
    if (__builtin_mul_overflow(tensor.dims[i] - 1, tensor.strides[i], &reach) ||
        __builtin_add_overflow(last, reach, &last) || last > kMostElements) {
      return false;
    }
  }
  return true;
}

bool any_dims(const OpArgs& recorded) {
  return std::ranges::any_of(recorded.inputs,
                             [](const ArgValue& a) { return a.is_tensor() || !a.list.empty(); });
}

// "Memcpy HtoD (Pinned -> Device)": where the tensors of a copy were.
void place_copy(std::span<const std::string_view> kernels, std::vector<ReplayArgument>& arguments) {
  const auto copy =
      std::ranges::find_if(kernels, [](std::string_view k) { return k.starts_with(kCopyPrefix); });
  if (copy == kernels.end() || arguments.size() < 2) return;
  const std::string_view direction = copy->substr(kCopyPrefix.size());
  const Place host =
      direction.find("Pinned") != std::string_view::npos ? Place::kPinned : Place::kPageable;
  ReplayArgument &to = arguments[0], &from = arguments[1];
  if (to.kind != ReplayArgument::Kind::kTensor || from.kind != ReplayArgument::Kind::kTensor)
    return;
  if (direction.starts_with("DtoH")) to.tensors[0].place = host;
  if (direction.starts_with("HtoD")) from.tensors[0].place = host;
}

class Maker {
 public:
  Maker(const OpArgs& recorded, std::span<const std::string_view> kernels) : recorded_(recorded) {
    for (std::string_view kernel : kernels) {
      if (!list_dtype_) list_dtype_ = dtype_in_kernel_name(kernel);
    }
  }

  std::optional<Reason> add(const ArgValue& value) {
    ReplayArgument argument;
    const bool is_list = !value.list.empty() || value.type == "TensorList";
    const std::optional<std::string_view> dtype = torch_dtype(value.type);
    if (is_list) {
      // PyTorch records no list of more than 30. One that is empty stands beside others that are
      // not.
      if (value.list.empty() && !any_dims(recorded_)) return Reason::kListLeftOut;
      argument.kind = ReplayArgument::Kind::kTensors;
      for (const ArgValue::Shape& shape : value.list) {
        std::optional<ReplayTensor> tensor = tensor_of(shape, list_dtype_.value_or("float32"));
        if (!tensor) return Reason::kBadShape;
        argument.tensors.push_back(std::move(*tensor));
        if (!list_dtype_) made.list_type_known = false;
      }
    } else if (dtype) {
      argument.kind = ReplayArgument::Kind::kTensor;
      std::optional<ReplayTensor> tensor = tensor_of(value.shape, *dtype);
      if (!tensor) return Reason::kBadShape;
      argument.tensors.push_back(std::move(*tensor));
    } else if (value.is_tensor()) {
      return Reason::kBadShape;  // sizes of we know not what
    } else if (!value.concrete.empty()) {
      argument.value = python_value(value.concrete).value_or(python_quoted(value.concrete));
    }
    made.all.push_back(std::move(argument));
    return {};
  }

  void add_found(const std::vector<ReplayTensor>& tensors) {
    ReplayArgument argument;
    argument.kind = ReplayArgument::Kind::kTensors;
    argument.tensors = tensors;
    made.all.push_back(std::move(argument));
  }

  ReplayArguments made;

 private:
  const OpArgs& recorded_;
  std::optional<std::string_view> list_dtype_;
};

}  // namespace

std::optional<ReplayTensor> tensor_of(const ArgValue::Shape& shape, std::string_view dtype) {
  ReplayTensor tensor{shape.dims, shape.strides, dtype};
  if (tensor.strides.empty()) tensor.strides = contiguous_strides(tensor.dims);
  if (tensor.strides.size() != tensor.dims.size() || !fits_memory(tensor)) return {};
  return tensor;
}

std::variant<ReplayArguments, Reason> replay_arguments(std::string_view op, const OpArgs& recorded,
                                                       const std::optional<FoundLists>& found,
                                                       std::span<const std::string_view> kernels) {
  Maker maker(recorded, kernels);
  for (size_t place = 0; place < recorded.inputs.size(); ++place) {
    if (found && found->contains(place)) {
      maker.add_found(found->at(place));
      continue;
    }
    if (const std::optional<Reason> refused = maker.add(recorded.inputs[place])) return *refused;
  }
  if (op == "aten::copy_") place_copy(kernels, maker.made.all);
  return std::move(maker.made);
}

std::string copy_directions(std::span<const std::string_view> kernels) {
  std::string directions;
  for (std::string_view kernel : kernels) {
    if (kernel.starts_with(kCopyPrefix)) directions += std::string(kernel) + "\n";
  }
  return directions;
}

}  // namespace fathom
