#include "trial/machine_state.h"

#include <fmt/format.h>

#include <charconv>

namespace fathom {
namespace {

// The value of the first line "NAME<blanks>: value".
std::string named_line(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (line.starts_with(name)) {
      const size_t colon = line.find(':');
      const size_t begin =
          colon == std::string_view::npos ? colon : line.find_first_not_of(" \t", colon + 1);
      if (begin != std::string_view::npos) return std::string(line.substr(begin));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return "";
}

size_t lines_with(std::string_view text, std::string_view name) {
  size_t count = 0;
  for (size_t at = 0; at < text.size(); at = std::min(text.find('\n', at), text.size() - 1) + 1)
    count += text.substr(at).starts_with(name);
  return count;
}

// Names of momentary values.
constexpr std::string_view kLoad = "load average, 1 min", kClockOfGpu = "SM clock of GPU ";

std::string gpu_line(const NvidiaGpu& gpu) {
  std::string line = gpu.name;
  if (gpu.max_sm_clock_mhz) line += fmt::format(", SM clock at most {} MHz", *gpu.max_sm_clock_mhz);
  if (gpu.power_limit_watts) line += fmt::format(", power limit {:.0f} W", *gpu.power_limit_watts);
  if (gpu.mig.value_or(false)) line += ", MIG";
  return line;
}

}  // namespace

MachineState machine_state(const Machine& machine, const Environment& environment) {
  MachineState state;
  const auto put = [&](std::string name, std::string value) {
    if (!value.empty()) state.emplace_back(std::move(name), std::move(value));
  };
  const std::string processors = machine.read("/proc/cpuinfo").value_or("");
  put("processor", named_line(processors, "model name"));
  if (const size_t count = lines_with(processors, "processor\t"); count > 0)
    put("logical processors", std::to_string(count));
  put("frequency governor",
      machine.read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").value_or(""));
  const std::string load = machine.read("/proc/loadavg").value_or("");
  put(std::string(kLoad), load.substr(0, load.find(' ')));
  put("memory", named_line(machine.read("/proc/meminfo").value_or(""), "MemTotal"));
  put("kernel", environment.kernel);
  put("distribution", environment.distribution);
  put("NVIDIA driver", environment.nvidia_module);
  put("CUDA of the driver", environment.cuda_driver_version);
  for (size_t i = 0; i < environment.nvidia_gpus.size(); ++i) {
    const NvidiaGpu& gpu = environment.nvidia_gpus[i];
    put(fmt::format("GPU {}", i), gpu_line(gpu));
    if (gpu.sm_clock_mhz)
      put(fmt::format("{}{}", kClockOfGpu, i), fmt::format("{} MHz", *gpu.sm_clock_mhz));
  }
  for (size_t i = 0; i < environment.amd_gpus.size(); ++i)
    put(fmt::format("GPU {}", i), environment.amd_gpus[i].name);
  if (environment.nvidia_gpus.empty() && environment.amd_gpus.empty()) put("GPU", "none found");
  for (const ToolFact& tool : environment.tools) {
    if (tool.found()) put(tool.name, tool.version.empty() ? "version unknown" : tool.version);
  }
  return state;
}

bool is_momentary(std::string_view name) { return name == kLoad || name.starts_with(kClockOfGpu); }

}  // namespace fathom
