#include "scan/link/found_kernels.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

#include "scan/facts/code_names.h"

namespace fathom {
namespace {

KernelGraph::Kernel add_found(const cpp::FoundKernel& found, uint32_t file, KernelGraph& graph) {
  KernelFacts kernel;
  kernel.name = found.name;
  kernel.scope = found.scope;
  kernel.kind = found.kind;
  kernel.body_read = false;
  kernel.at = {file, found.line_first};
  kernel.line_name = found.line_name;
  kernel.line_last = found.line_last;
  kernel.parameters = found.parameters;
  kernel.attributes = found.attributes;
  const KernelGraph::Kernel id = graph.add(KernelFamily::kByPlace, std::move(kernel), false);
  if (found.via.empty()) return id;
  KernelLauncher launcher;
  const bool elsewhere = found.launch_line != 0;
  launcher.at = {file, elsewhere ? found.launch_line : found.line_name};
  launcher.line_last = elsewhere ? found.launch_line : found.line_last;
  launcher.function = found.function;
  launcher.via = found.via;
  launcher.grid = found.grid;
  graph.launch(id, std::move(launcher));
  return id;
}

void add_launch(const cpp::NamedLaunch& launch, uint32_t file, Certainty certainty,
                KernelGraph::Kernel kernel, KernelGraph& graph) {
  KernelLauncher launcher;
  launcher.at = {file, launch.line};
  launcher.line_last = launch.line;
  launcher.function = launch.function;
  launcher.via = launch.via;
  launcher.grid = launch.grid;
  launcher.certainty = certainty;
  graph.launch(kernel, std::move(launcher));
}

bool is_hip_header(std::string_view include) {
  return starts_with_any(include, {"hip/", "rocprim/", "hipcub/", "rocwmma/"});
}

bool is_cuda_header(std::string_view include) {
  return starts_with_any(include, {"cuda.h", "cuda_runtime", "cuda_fp16", "cuda_bf16", "cuda_fp8",
                                   "cuda/", "cub/", "cutlass/", "cute/", "cooperative_groups"});
}

// CONVECTION-Hip.cpp, norm_hip.cpp and hip/norm.cpp, but not ship.cpp
bool is_called_hip(std::string_view path) {
  size_t begin = 0;
  for (size_t i = 0; i <= path.size(); ++i) {
    const char c = i < path.size() ? path[i] : '/';
    if (c != '/' && c != '-' && c != '_' && c != '.') continue;
    if (small_letters(path.substr(begin, i - begin)) == "hip") return true;
    begin = i + 1;
  }
  return false;
}

// hipMalloc, cudaMalloc
bool is_runtime_call(std::string_view name, std::string_view runtime) {
  return name.size() > runtime.size() && name.starts_with(runtime) &&
         std::isupper(static_cast<unsigned char>(name[runtime.size()])) != 0;
}

}  // namespace

void add_found_kernels(const Readings& readings, KernelGraph& graph) {
  std::vector<std::pair<const cpp::NamedLaunch*, uint32_t>> others;  // of other files' kernels
  for (uint32_t file = 0; file < readings.files.size(); ++file) {
    std::map<std::string_view, KernelGraph::Kernel> own;
    for (const cpp::FoundKernel& found : readings.readings[file].found_kernels)
      own.try_emplace(found.name, add_found(found, file, graph));
    for (const cpp::NamedLaunch& launch : readings.readings[file].found_launches) {
      const auto here = own.find(launch.name);
      if (here != own.end())
        add_launch(launch, file, Certainty::kCertain, here->second, graph);
      else
        others.emplace_back(&launch, file);
    }
  }
  for (const auto& [launch, file] : others) {
    if (const auto* only = graph.only(launch->name, KernelFamily::kByPlace))
      add_launch(*launch, file, Certainty::kLikely, *only, graph);
  }
}

KernelLanguages::KernelLanguages(const Readings& readings) {
  size_t hip_files = 0, cuda_files = 0, hip_calls = 0, cuda_calls = 0;
  of_file_.resize(readings.files.size(), KernelKind::kCuda);
  std::vector<char> unsaid(readings.files.size());
  for (uint32_t file = 0; file < readings.files.size(); ++file) {
    const Language language = readings.files[file].language;
    const std::vector<std::string>& includes = readings.readings[file].cpp.includes;
    const bool hip = std::any_of(includes.begin(), includes.end(), is_hip_header);
    const bool cuda = std::any_of(includes.begin(), includes.end(), is_cuda_header);
    hip_files += hip || language == Language::kHip;
    cuda_files += cuda;
    for (const auto& references : readings.readings[file].usage.references) {
      for (const cpp::Reference& call : references) {
        if (call.kind != cpp::ReferenceKind::kCall) continue;
        hip_calls += is_runtime_call(call.name, "hip") ? 1 : 0;
        cuda_calls += is_runtime_call(call.name, "cuda") ? 1 : 0;
      }
    }
    if (language == Language::kMusa) of_file_[file] = KernelKind::kMusa;
    if (language == Language::kHip || (hip && !cuda) ||
        (hip == cuda && is_called_hip(readings.files[file].path)))
      of_file_[file] = KernelKind::kHip;
    unsaid[file] = hip == cuda && of_file_[file] == KernelKind::kCuda ? 1 : 0;
  }
  // Where nearly all that say it are HIP, the others are, too. What includes both runtimes is
  // written for the one that it calls.
  constexpr size_t kNearlyAll = 9;
  if (hip_files <= kNearlyAll * cuda_files &&
      (hip_files == 0 || hip_calls <= kNearlyAll * cuda_calls))
    return;
  for (uint32_t file = 0; file < readings.files.size(); ++file) {
    if (unsaid[file] != 0) of_file_[file] = KernelKind::kHip;
  }
}

}  // namespace fathom
