#pragma once

#include <span>
#include <string_view>

namespace fathom {

// A macro of a published library that stands for __global__ (data/kernels/cpp_macros.tsv).
struct KernelMacroRule {
  std::string_view name;
  std::string_view parameters;  // separated by commas; empty: an object-like macro
  std::string_view stands_for;
};
std::span<const KernelMacroRule> kernel_macro_rules();

}  // namespace fathom
