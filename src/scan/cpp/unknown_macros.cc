#include "scan/cpp/unknown_macros.h"

#include <algorithm>
#include <vector>

#include "base/text_parts.h"
#include "base/tsv.h"
#include "scan/cpp/words.h"

namespace fathom::cpp {
namespace {

bool has_word(std::string_view macro, std::initializer_list<std::string_view> wanted) {
  return std::ranges::any_of(split(macro, '_'),
                             [&](std::string_view word) { return is_one_of(word, wanted); });
}

// What exports, inlines or compiles for the host and the device makes no kernel.
bool says_otherwise(std::string_view macro) {
  return has_word(
      macro, {"API", "EXPORT", "EXPORTS", "IMPORT", "DLL", "PUBLIC", "VISIBLE", "HIDDEN", "HOST",
              "DEVICE", "INLINE", "FORCEINLINE", "HD", "CALL", "DECL", "DEPRECATED"});
}

bool is_named_as_kernel(std::string_view macro) {
  return has_word(macro, {"GLOBAL", "KERNEL", "KERNELS"});
}

// Attributes that only a kernel can have.
bool bounds_launch(std::string_view attribute) {
  return holds_any(attribute, {"__launch_bounds__", "__cluster_dims__", "__maxnreg__",
                               "__block_size__", "LAUNCH_BOUNDS", "amdgpu_flat_work_group_size"});
}

bool reads_thread_index(const BodyRange& body) {
  for (size_t i = body.first; i < body.last; ++i) {
    if (!body.source.is_name(i)) continue;
    const std::string_view name = body.source.at(i);
    if (is_one_of(name, {"threadIdx", "blockIdx", "blockDim", "gridDim", "hipThreadIdx_x",
                         "hipBlockIdx_x", "hipBlockDim_x", "this_thread_block"}))
      return true;
  }
  return false;
}

// The words in capitals of the return type and the attributes.
std::vector<std::string_view> macros_before(const Function& function) {
  std::vector<std::string_view> out;
  const auto add = [&](std::string_view word) {
    if (word.size() > 2 && is_all_caps(word)) out.push_back(word);
  };
  for (const std::string_view word : split(function.return_type, ' ')) add(word);
  for (const std::string_view attribute : function.attributes)
    add(attribute.substr(0, attribute.find('(')));
  return out;
}

}  // namespace

std::string unknown_kernel_macro(const Function& function, const BodyRange& body,
                                 const std::function<bool(std::string_view)>& is_known) {
  if (function.kind != FunctionKind::kHost) return "";
  const std::string_view type = function.return_type;
  const bool returns_void = type == "void" || type.ends_with(" void");
  // A macro may hold the `void`, too.
  if (!returns_void && (holds(type, ' ') || !is_all_caps(type))) return "";
  const bool bounded =
      std::any_of(function.attributes.begin(), function.attributes.end(), bounds_launch);
  for (const std::string_view macro : macros_before(function)) {
    if (bounds_launch(macro) || says_otherwise(macro) || is_known(macro)) continue;
    if (bounded || (is_named_as_kernel(macro) && reads_thread_index(body)))
      return std::string(macro);
  }
  return "";
}

}  // namespace fathom::cpp
