// What the kernel drivers of both vendors show in /proc, /sys and /dev.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "doctor/system_facts.h"

namespace fathom {
namespace {

DeviceFile device_file(const Machine& machine, const std::string& path) {
  return {path, access(machine.at(path).c_str(), R_OK | W_OK) == 0};
}

// "simd_count 304" of a node's properties, "RmProfilingAdminOnly: 1" of the driver's.
std::optional<int64_t> property(std::string_view text, std::string_view key) {
  const auto value = line_value(text, key);
  return value ? whole_number(*value) : std::nullopt;
}

std::optional<bool> admin_only(const Machine& machine) {
  const std::string text = machine.read_guarded("/proc/driver/nvidia/params").value_or("");
  const auto value = property(text, "RmProfilingAdminOnly");
  return value ? std::optional(*value != 0) : std::nullopt;
}

// A process by the name that the kernel keeps, which is cut to 15 characters.
bool runs(const Machine& machine, const std::vector<std::string>& processes,
          std::string_view name) {
  return std::any_of(processes.begin(), processes.end(), [&](const std::string& process) {
    return machine.read("/proc/" + process + "/comm").value_or("") == name.substr(0, 15);
  });
}

std::vector<std::string> process_folders(const Machine& machine) {
  std::vector<std::string> names = machine.list("/proc");
  std::erase_if(names, [](const std::string& name) {
    return name.find_first_not_of("0123456789") != std::string::npos;
  });
  return names;
}

// 90402 → gfx942, 90010 → gfx90a: major, minor and step, the step as a hexadecimal digit.
std::string gfx_target(int64_t version) {
  return fmt::format("gfx{}{}{:x}", version / 10000, version / 100 % 100, version % 100);
}

void read_kfd_node(const Machine& machine, const std::string& node, Environment& out) {
  const std::string text = machine.read_guarded(node + "/properties").value_or("");
  const auto simds = property(text, "simd_count");
  if (!simds || *simds <= 0) return;  // a CPU
  AmdGpu gpu;
  gpu.name = machine.read(node + "/name").value_or("");
  if (const auto per_unit = property(text, "simd_per_cu"); per_unit && *per_unit > 0)
    gpu.compute_units = static_cast<int>(*simds / *per_unit);
  if (const auto target = property(text, "gfx_target_version"); target && *target > 0)
    gpu.target = gfx_target(*target);
  const std::string bank = machine.read(node + "/mem_banks/0/properties").value_or("");
  gpu.memory_bytes = property(bank, "size_in_bytes");
  out.amd_gpus.push_back(std::move(gpu));
}

}  // namespace

void read_nvidia_files(const Machine& machine, Environment& out) {
  out.nvidia_module =
      first_version(machine.read_guarded("/proc/driver/nvidia/version").value_or(""));
  for (const std::string& name : machine.list("/dev")) {
    const std::string_view rest = std::string_view(name).substr(std::min<size_t>(6, name.size()));
    const bool is_gpu =
        !rest.empty() && rest.find_first_not_of("0123456789") == std::string_view::npos;
    if (name.starts_with("nvidia") && (is_gpu || rest == "ctl" || rest == "-uvm"))
      out.nvidia_devices.push_back(device_file(machine, "/dev/" + name));
  }
  out.profiling_admin_only = admin_only(machine);
  if (out.profiling_admin_only) {
    out.counters = !*out.profiling_admin_only      ? CounterPermission::kEveryone
                   : out.sys_admin.value_or(false) ? CounterPermission::kPrivileged
                                                   : CounterPermission::kRestricted;
  }
  if (const auto found = machine.variables.find("CUDA_VISIBLE_DEVICES");
      found != machine.variables.end())
    out.cuda_visible_devices = found->second;
  const std::vector<std::string> processes = process_folders(machine);
  const std::string pipes = machine.variable("CUDA_MPS_PIPE_DIRECTORY");
  out.mps = runs(machine, processes, "nvidia-cuda-mps-control") ||
            machine.exists((pipes.empty() ? "/tmp/nvidia-mps" : pipes) + "/control");
  out.dcgm = runs(machine, processes, "nv-hostengine") || runs(machine, processes, "dcgm-exporter");
}

void read_amd_files(const Machine& machine, Environment& out) {
  out.amdgpu_module = first_version(machine.read("/sys/module/amdgpu/version").value_or(""));
  if (machine.exists("/dev/kfd")) out.kfd = device_file(machine, "/dev/kfd");
  const std::string home = machine.variable("ROCM_PATH");
  for (const std::string& folder : {home.empty() ? "/opt/rocm" : home, std::string("/opt/rocm")}) {
    if (!out.rocm_version.empty()) break;
    out.rocm_version = first_version(machine.read(folder + "/.info/version").value_or(""));
  }
  const std::string nodes = "/sys/class/kfd/kfd/topology/nodes";
  for (const std::string& node : machine.list(nodes))
    read_kfd_node(machine, (nodes + "/").append(node), out);
}

}  // namespace fathom
