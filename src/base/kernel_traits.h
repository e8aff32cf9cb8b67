#pragma once

#include <string>
#include <string_view>

namespace fathom {

// What a kernel's name tells of it, whichever library it is from; empty: nothing.
struct KernelTraits {
  std::string library;        // "nvjet", "cutlass", "triton"
  std::string family;         // "gemm", "attention", "elementwise"
  std::string_view category;  // of the analysis: "gemm", "sdpa_bwd"; "other" where nothing tells
  std::string tile;           // "128x256x64"
  std::string dtype;          // "bf16", of the inputs
  std::string layout;         // "tn"
};
// By data/metrics/kernel_families.tsv. The name may be mangled.
KernelTraits kernel_traits(std::string_view name);
// The category alone.
std::string_view kernel_category(std::string_view name);

}  // namespace fathom
