#pragma once

#include <span>
#include <variant>

#include "replay/hidden_lists.h"
#include "replay/replay_ops.h"

namespace fathom {

struct ReplayArguments {
  std::vector<ReplayArgument> all;
  bool list_type_known = true;
};

// What a call needs, from what the trace says of the op and of the kernels it ran. The kernels say
// where the tensors of a copy were, and the type of a list's tensors; `found` are the lists that
// the op's own event leaves out.
std::variant<ReplayArguments, ReplayRefusal::Reason> replay_arguments(
    std::string_view op, const OpArgs& recorded, const std::optional<FoundLists>& found,
    std::span<const std::string_view> kernels);

// Nothing for sizes or strides that make no sense. Contiguous where there are no strides.
std::optional<ReplayTensor> tensor_of(const ArgValue::Shape& shape, std::string_view dtype);

// The copies among the kernels, which tell calls apart that the arguments do not: to the GPU and
// from it are the same aten::copy_.
std::string copy_directions(std::span<const std::string_view> kernels);

}  // namespace fathom
