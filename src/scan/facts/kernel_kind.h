#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fathom {

// What a kernel is written in, or how it comes to be.
enum class KernelKind : uint8_t {
  kCuda,
  kTriton,
  kCute,
  kMacro,         // CUDA that a macro of the repository defines
  kDeviceKernel,  // a class that cutlass::device_kernel runs
  kJinja,         // CUDA in a template
  kString,        // CUDA in a string of the program
  kHip,
  kMusa,
  kGluon,
  kCuTile,
  kTileLang,
  kHelion,
  kFlyDsl,
  kNumba,
  kWarp,
  kCupy,
  kPyCuda,
  kPallas,
  kTvm,
  kTaichi,
  kSycl,
  kOpenCl,
  kMetal,
  kWgsl,
  kGlsl,
  kHlsl,
  kJulia,
  kRust
};

// "cuda", "triton": as facts, tables and data files call it (fact_names.cc).
std::string_view kernel_kind_name(KernelKind kind);
std::optional<KernelKind> kernel_kind_of(std::string_view name);

// Whether it is a function of Python.
bool is_python_kernel(KernelKind kind);

}  // namespace fathom
