#include "report/scan/unread_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/count_text.h"
#include "scan/kernels/shader_rules.h"

namespace fathom {
namespace {

std::string_view kind_words(KernelKind kind) {
  switch (kind) {
    case KernelKind::kTileLang:
      return "TileLang";
    case KernelKind::kHelion:
      return "Helion";
    case KernelKind::kFlyDsl:
      return "FlyDSL";
    case KernelKind::kNumba:
      return "Numba";
    case KernelKind::kWarp:
      return "Warp";
    case KernelKind::kCupy:
      return "CuPy";
    case KernelKind::kPyCuda:
      return "PyCUDA";
    case KernelKind::kPallas:
      return "Pallas";
    case KernelKind::kTvm:
      return "TVM";
    case KernelKind::kTaichi:
      return "Taichi";
    case KernelKind::kSycl:
      return "SYCL";
    case KernelKind::kOpenCl:
      return "OpenCL";
    case KernelKind::kMetal:
      return "Metal";
    case KernelKind::kWgsl:
      return "WGSL";
    case KernelKind::kGlsl:
      return "GLSL compute";
    case KernelKind::kHlsl:
      return "HLSL compute";
    case KernelKind::kJulia:
      return "Julia";
    case KernelKind::kRust:
      return "Rust";
    case KernelKind::kString:
      return "CUDA-in-string";
    default:
      return kernel_kind_name(kind);
  }
}

struct Unread {
  size_t count = 0;
  std::string text;
};

// What a submodule has, a scan of a checkout without it cannot tell.
std::vector<std::string> absent_submodules(const CodeFacts& facts) {
  std::set<std::string_view> paths;
  for (const SourceFile& file : facts.files) paths.insert(file.path);
  std::vector<std::string> out;
  for (const DependencyFacts& dependency : facts.dependencies) {
    if (dependency.kind != DependencyKind::kSubmodule) continue;
    const std::string folder = dependency.folder + "/";
    const auto first = paths.lower_bound(folder);
    if (first == paths.end() || !first->starts_with(folder)) out.push_back(dependency.name);
  }
  return out;
}

std::string absent_line(const std::vector<std::string>& absent) {
  constexpr size_t kShown = 3;
  std::string names;
  for (size_t i = 0; i < std::min(absent.size(), kShown); ++i)
    names += (i > 0 ? ", " : "") + absent[i];
  if (absent.size() > kShown) names += " …";
  return fmt::format("{} {} not checked out, kernels and launches in {} are not seen: {}",
                     number_text(absent.size()),
                     absent.size() == 1 ? "submodule is" : "submodules are",
                     absent.size() == 1 ? "it" : "them", names);
}

}  // namespace

std::vector<std::string> unread_lines(const CodeFacts& facts) {
  std::map<KernelKind, size_t> kinds;
  for (const KernelFacts& kernel : facts.kernels) kinds[kernel.kind] += !kernel.body_read;
  std::vector<Unread> all;
  for (const auto& [kind, count] : kinds) {
    if (count == 0) continue;
    all.push_back({count, fmt::format("{} {} {}: positions only; {} not read", number_text(count),
                                      kind_words(kind), noun(count, "kernel"),
                                      count == 1 ? "body" : "bodies")});
  }
  for (const PrebuiltCode& code : facts.prebuilt) {
    const PrebuiltRule* rule = prebuilt_rule_of("x." + code.ending);
    if (rule == nullptr) continue;
    all.push_back(
        {code.files, fmt::format("{} {} (.{}): not read", number_text(code.files),
                                 code.files == 1 ? rule->one : rule->several, code.ending)});
  }
  std::ranges::stable_sort(all, std::greater(), &Unread::count);
  std::vector<std::string> out;
  for (Unread& one : all) out.push_back(std::move(one.text));
  const std::vector<std::string> absent = absent_submodules(facts);
  if (!absent.empty()) out.push_back(absent_line(absent));
  return out;
}

}  // namespace fathom
