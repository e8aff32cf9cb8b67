#pragma once

#include <optional>
#include <string_view>

namespace fathom {

// torch's name for the type that a trace gives a tensor: "c10::BFloat16" is bfloat16. The table is
// data/replay/tensor_types.tsv; nothing for a type that is not in it.
std::optional<std::string_view> torch_dtype(std::string_view type);

// A trace does not say what type the tensors of a list have. The kernel's name often does: its
// template arguments, or the size of what it copies. Nothing where it does not.
std::optional<std::string_view> dtype_in_kernel_name(std::string_view kernel);

}  // namespace fathom
