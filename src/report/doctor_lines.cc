#include <fmt/format.h>

#include "base/count_text.h"
#include "report/doctor_sentences.h"

namespace fathom {
namespace {

void join(std::string& into, std::string_view text) {
  if (text.empty()) return;
  if (!into.empty()) into += " · ";
  into += text;
}

std::string gibibytes(std::optional<int64_t> bytes) {
  return bytes ? fmt::format("{:.0f} GiB", static_cast<double>(*bytes) / 0x1p30) : std::string();
}

std::string link_text(const PcieLink& link) {
  if (!link.generation && !link.width) return "";
  const auto side = [](std::optional<int> generation, std::optional<int> width) {
    return fmt::format("gen {} x{}", generation ? fmt::format("{}", *generation) : "?",
                       width ? fmt::format("{}", *width) : "?");
  };
  std::string text = "PCIe " + side(link.generation, link.width);
  if (link.max_generation || link.max_width)
    text += fmt::format(" (at most {})", side(link.max_generation, link.max_width));
  return text;
}

std::string clock_text(const NvidiaGpu& gpu) {
  std::string text;
  if (gpu.sm_clock_mhz) text = fmt::format("SM clock {} MHz", *gpu.sm_clock_mhz);
  if (gpu.max_sm_clock_mhz)
    text +=
        fmt::format("{}at most {} MHz", text.empty() ? "SM clock " : ", ", *gpu.max_sm_clock_mhz);
  if (gpu.application_clock_mhz && gpu.default_application_clock_mhz) {
    const bool set = *gpu.application_clock_mhz != *gpu.default_application_clock_mhz;
    join(text, set ? fmt::format("locked: application clock {} MHz", *gpu.application_clock_mhz)
                   : "application clock not locked");
  }
  return text;
}

std::string power_text(const NvidiaGpu& gpu) {
  if (!gpu.power_limit_watts) return "";
  std::string text = fmt::format("power limit {:.0f} W", *gpu.power_limit_watts);
  if (gpu.default_power_limit_watts && *gpu.default_power_limit_watts != *gpu.power_limit_watts)
    text += fmt::format(" (default {:.0f} W)", *gpu.default_power_limit_watts);
  return text;
}

void add_nvidia_gpu(const NvidiaGpu& gpu, size_t index, std::vector<EnvironmentLine>& out) {
  std::string what = gpu.name.empty() ? "NVIDIA GPU" : gpu.name;
  join(what, gibibytes(gpu.memory_bytes));
  if (gpu.compute_major)
    join(what, fmt::format("sm_{}{}", *gpu.compute_major, gpu.compute_minor.value_or(0)));
  if (!gpu.platform.empty()) join(what, fmt::format("--platform '{}'", gpu.platform));
  if (gpu.mig.value_or(false)) join(what, "MIG on");
  out.push_back({fmt::format("GPU {}", index), what});
  std::string state = clock_text(gpu);
  join(state, power_text(gpu));
  if (gpu.persistence) join(state, *gpu.persistence ? "persistence on" : "persistence off");
  if (!state.empty()) out.push_back({"", state});
  std::string links = link_text(gpu.pcie);
  if (gpu.nvlinks)
    join(links, *gpu.nvlinks == 0
                    ? "NVLink inactive"
                    : fmt::format("NVLink: {}",
                                  counted(static_cast<size_t>(*gpu.nvlinks), "active link")));
  if (!links.empty()) out.push_back({"", links});
}

std::string_view path_text(GpuPath path) {
  switch (path) {
    case GpuPath::kInternal:
      return "on one board";
    case GpuPath::kPix:
      return "one PCIe switch";
    case GpuPath::kPxb:
      return "several PCIe switches";
    case GpuPath::kPhb:
      return "PCIe host bridge";
    case GpuPath::kNode:
      return "host bridges of a NUMA node";
    case GpuPath::kSys:
      return "between NUMA nodes";
  }
  return "";
}

// "12 pairs: PCIe host bridge · 16 pairs: between NUMA nodes"
std::string pairs_text(const std::vector<GpuPair>& pairs) {
  size_t counts[6] = {};
  for (const GpuPair& pair : pairs) ++counts[static_cast<size_t>(pair.path)];
  std::string text;
  for (size_t i = 0; i < 6; ++i) {
    if (counts[i] > 0)
      join(text,
           fmt::format("{}: {}", counted(counts[i], "pair"), path_text(static_cast<GpuPath>(i))));
  }
  return text;
}

void add_gpus(const Environment& e, std::vector<EnvironmentLine>& out) {
  for (size_t i = 0; i < e.nvidia_gpus.size(); ++i) add_nvidia_gpu(e.nvidia_gpus[i], i, out);
  if (!e.gpu_pairs.empty()) out.push_back({"Topology", pairs_text(e.gpu_pairs)});
  for (size_t i = 0; i < e.amd_gpus.size(); ++i) {
    const AmdGpu& gpu = e.amd_gpus[i];
    std::string what = gpu.name.empty() ? "AMD GPU" : gpu.name;
    join(what, gpu.target);
    if (gpu.compute_units) join(what, fmt::format("{} CUs", *gpu.compute_units));
    join(what, gibibytes(gpu.memory_bytes));
    out.push_back({fmt::format("GPU {}", e.nvidia_gpus.size() + i), what});
  }
  // Those that no driver told of.
  for (const PciGpu& gpu : e.pci_gpus) {
    const bool told =
        gpu.vendor == PciVendor::kNvidia ? !e.nvidia_gpus.empty() : !e.amd_gpus.empty();
    if (told) continue;
    std::string what = gpu.vendor == PciVendor::kNvidia ? "NVIDIA" : "AMD";
    join(what, gpu.driver.empty() ? "no kernel driver" : "kernel driver " + gpu.driver);
    join(what, link_text(gpu.link));
    out.push_back({"PCI " + gpu.address, what});
  }
  if (e.nvidia_gpus.empty() && e.amd_gpus.empty() && e.pci_gpus.empty())
    out.push_back({"GPU", e.nvidia_module.empty() ? "none found" : "not reported by the driver"});
}

std::string library_text(const LibraryFact& library, std::string_view name) {
  if (!library.found()) return fmt::format("{} not found", name);
  std::string text = library.version;
  join(text, library.path);
  join(text, library.problem);
  return text;
}

std::string device_text(const std::vector<DeviceFile>& files) {
  std::string text;
  for (const DeviceFile& file : files) {
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", file.path,
                        file.accessible ? "" : " (no access)");
  }
  return text;
}

std::string_view permission_text(CounterPermission permission) {
  switch (permission) {
    case CounterPermission::kUnknown:
      return "permission unknown";
    case CounterPermission::kEveryone:
      return "open to all users (RmProfilingAdminOnly 0)";
    case CounterPermission::kPrivileged:
      return "restricted (RmProfilingAdminOnly 1); this process has CAP_SYS_ADMIN";
    case CounterPermission::kRestricted:
      return "restricted (RmProfilingAdminOnly 1); this process lacks CAP_SYS_ADMIN";
  }
  return "";
}

void add_nvidia(const Environment& e, std::vector<EnvironmentLine>& out) {
  const bool any = e.has_pci_gpu(PciVendor::kNvidia) || !e.nvidia_module.empty() ||
                   !e.nvidia_gpus.empty() || e.cuda.found();
  if (any) {
    out.push_back({"NVIDIA", e.nvidia_module.empty() ? "kernel module not loaded"
                                                     : "driver " + e.nvidia_module});
    out.push_back({"Devices", e.nvidia_devices.empty() ? "no /dev/nvidia* files"
                                                       : device_text(e.nvidia_devices)});
    out.push_back({"Counters", std::string(permission_text(e.counters))});
  }
  std::string cuda = library_text(e.cuda, "libcuda.so.1");
  if (e.cuda_device_count)
    join(cuda, counted(static_cast<size_t>(*e.cuda_device_count), "visible device"));
  out.push_back({"CUDA", cuda, !e.cuda.found()});
  if (e.cuda_visible_devices)
    out.push_back({"", fmt::format("CUDA_VISIBLE_DEVICES='{}'", *e.cuda_visible_devices)});
  out.push_back({"NVML", library_text(e.nvml, "libnvidia-ml.so.1"), !e.nvml.found()});
  std::string cupti = library_text(e.cupti, "libcupti.so");
  if (e.cupti.range_profiler) join(cupti, "range profiler");
  if (e.cupti.pm_sampling) join(cupti, "PM sampling");
  if (e.cupti.pc_sampling) join(cupti, "PC sampling");
  out.push_back({"CUPTI", cupti, !e.cupti.found()});
  if (e.mps) out.push_back({"MPS", "running"});
  if (e.dcgm) out.push_back({"DCGM", "running"});
}

void add_amd(const Environment& e, std::vector<EnvironmentLine>& out) {
  if (!e.has_pci_gpu(PciVendor::kAmd) && e.amd_gpus.empty() && !e.kfd && e.rocm_version.empty())
    return;
  std::string text = e.rocm_version.empty() ? "ROCm not found" : "ROCm " + e.rocm_version;
  if (!e.amdgpu_module.empty()) join(text, "amdgpu " + e.amdgpu_module);
  join(text, e.kfd ? device_text({*e.kfd}) : "no /dev/kfd");
  out.push_back({"AMD", text, e.rocm_version.empty()});
}

}  // namespace

std::vector<EnvironmentLine> environment_lines(const Environment& e) {
  std::vector<EnvironmentLine> out;
  std::string system = e.distribution;
  if (!e.kernel.empty()) join(system, "Linux " + e.kernel);
  if (e.wsl) join(system, "WSL");
  if (e.container != ContainerKind::kNone)
    join(system, e.container == ContainerKind::kOther
                     ? std::string("in a container")
                     : fmt::format("in a {} container", container_name(e.container)));
  out.push_back({"System", system.empty() ? "unknown" : system});
  add_gpus(e, out);
  add_nvidia(e, out);
  add_amd(e, out);
  for (const ToolFact& tool : e.tools) {
    std::string text = tool.found() ? tool.version : "not found";
    join(text, tool.path);
    out.push_back({tool.name, text, !tool.found()});
  }
  if (e.perf_event_paranoid)
    out.push_back({"perf", fmt::format("perf_event_paranoid {}", *e.perf_event_paranoid)});
  return out;
}

}  // namespace fathom
