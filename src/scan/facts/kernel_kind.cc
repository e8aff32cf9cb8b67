#include "scan/facts/kernel_kind.h"

#include <algorithm>
#include <array>

namespace fathom {
namespace {

struct KindName {
  KernelKind kind;
  std::string_view name;
  bool is_python = false;
};

constexpr std::array kKinds = {
    KindName{KernelKind::kCuda, "cuda"},
    KindName{KernelKind::kTriton, "triton", true},
    KindName{KernelKind::kCute, "cute", true},
    KindName{KernelKind::kMacro, "macro"},
    KindName{KernelKind::kDeviceKernel, "device_kernel"},
    KindName{KernelKind::kJinja, "jinja"},
    KindName{KernelKind::kString, "string"},
    KindName{KernelKind::kHip, "hip"},
    KindName{KernelKind::kMusa, "musa"},
    KindName{KernelKind::kGluon, "gluon", true},
    KindName{KernelKind::kCuTile, "cutile", true},
    KindName{KernelKind::kTileLang, "tilelang", true},
    KindName{KernelKind::kHelion, "helion", true},
    KindName{KernelKind::kFlyDsl, "flydsl", true},
    KindName{KernelKind::kNumba, "numba", true},
    KindName{KernelKind::kWarp, "warp", true},
    KindName{KernelKind::kCupy, "cupy", true},
    KindName{KernelKind::kPyCuda, "pycuda", true},
    KindName{KernelKind::kPallas, "pallas", true},
    KindName{KernelKind::kTvm, "tvm", true},
    KindName{KernelKind::kTaichi, "taichi", true},
    KindName{KernelKind::kSycl, "sycl"},
    KindName{KernelKind::kOpenCl, "opencl"},
    KindName{KernelKind::kMetal, "metal"},
    KindName{KernelKind::kWgsl, "wgsl"},
    KindName{KernelKind::kGlsl, "glsl"},
    KindName{KernelKind::kHlsl, "hlsl"},
    KindName{KernelKind::kJulia, "julia"},
    KindName{KernelKind::kRust, "rust"},
};

}  // namespace

std::string_view kernel_kind_name(KernelKind kind) {
  const auto* found = std::ranges::find(kKinds, kind, &KindName::kind);
  return found == kKinds.end() ? "" : found->name;
}

std::optional<KernelKind> kernel_kind_of(std::string_view name) {
  const auto* found = std::ranges::find(kKinds, name, &KindName::name);
  return found == kKinds.end() ? std::nullopt : std::optional(found->kind);
}

bool is_python_kernel(KernelKind kind) {
  const auto* found = std::ranges::find(kKinds, kind, &KindName::kind);
  return found != kKinds.end() && found->is_python;
}

}  // namespace fathom
