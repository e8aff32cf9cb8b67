#include <fmt/format.h>

#include "base/nvml_calls.h"
#include "base/text_parts.h"
#include "doctor/libraries.h"
#include "doctor/loaded_library.h"
#include "doctor/nvidia_libraries.h"
#include "platform/platform.h"

namespace fathom {
namespace {

using NvmlDevice = nvml::Device;

constexpr unsigned kMostGpus = 64, kMostNvLinks = 32, kMostPaired = 16;

struct NvmlMemory {
  unsigned long long total, free, used;
};

class NvmlReader {
 public:
  NvmlReader(void* library, const AnswerWriter& answer) : library_(library), answer_(answer) {}

  void run() {
    nvml::Call* const start = function_of<nvml::Call>(library_, "nvmlInit_v2");
    if (const int error = start(); error != 0) {
      answer_.put("problem", error_text(error));
      return;
    }
    text("version", "nvmlSystemGetNVMLVersion");
    text("driver", "nvmlSystemGetDriverVersion");
    unsigned count = 0;
    const auto count_gpus = function_of<int(unsigned*)>(library_, "nvmlDeviceGetCount_v2");
    if (count_gpus == nullptr || count_gpus(&count) != 0) return;
    const auto open =
        function_of<int(unsigned, NvmlDevice*)>(library_, "nvmlDeviceGetHandleByIndex_v2");
    std::vector<NvmlDevice> devices;
    for (unsigned i = 0; open != nullptr && i < count && i < kMostGpus; ++i) {
      NvmlDevice device = nullptr;
      if (open(i, &device) != 0) continue;
      answer_.put("gpu", fmt::format("{}", i));
      read_gpu(device);
      devices.push_back(device);
    }
    read_pairs(devices);
  }

 private:
  std::string error_text(int error) const {
    const auto words = function_of<const char*(int)>(library_, "nvmlErrorString");
    const char* const text = words == nullptr ? nullptr : words(error);
    return fmt::format("nvmlInit: error {}{}{}", error, text == nullptr ? "" : ": ",
                       text == nullptr ? "" : text);
  }

  void text(const char* key, const char* function) {
    char out[128] = {};
    const auto get = function_of<nvml::Text>(library_, function);
    if (get != nullptr && get(out, sizeof(out) - 1) == 0) answer_.put(key, out);
  }

  void text(const char* key, const char* function, NvmlDevice device) {
    char out[128] = {};
    const auto get = function_of<nvml::DeviceText>(library_, function);
    if (get != nullptr && get(device, out, sizeof(out) - 1) == 0) answer_.put(key, out);
  }

  void number(const char* key, const char* function, NvmlDevice device) {
    unsigned out = 0;
    const auto get = function_of<nvml::DeviceNumber>(library_, function);
    if (get != nullptr && get(device, &out) == 0) answer_.put(key, fmt::format("{}", out));
  }

  void clock(const char* key, const char* function, NvmlDevice device) {
    unsigned out = 0;
    const auto get = function_of<nvml::DeviceClock>(library_, function);
    if (get != nullptr && get(device, nvml::kSmClock, &out) == 0)
      answer_.put(key, fmt::format("{}", out));
  }

  void read_gpu(NvmlDevice device) {
    text("name", "nvmlDeviceGetName", device);
    text("uuid", "nvmlDeviceGetUUID", device);
    NvmlMemory memory = {};
    const auto get_memory =
        function_of<int(NvmlDevice, NvmlMemory*)>(library_, "nvmlDeviceGetMemoryInfo");
    if (get_memory != nullptr && get_memory(device, &memory) == 0)
      answer_.put("memory", fmt::format("{}", memory.total));
    int major = 0, minor = 0;
    const auto capability =
        function_of<int(NvmlDevice, int*, int*)>(library_, "nvmlDeviceGetCudaComputeCapability");
    if (capability != nullptr && capability(device, &major, &minor) == 0) {
      answer_.put("major", fmt::format("{}", major));
      answer_.put("minor", fmt::format("{}", minor));
    }
    number("power_limit", "nvmlDeviceGetPowerManagementLimit", device);
    number("default_power_limit", "nvmlDeviceGetPowerManagementDefaultLimit", device);
    clock("sm_clock", "nvmlDeviceGetClockInfo", device);
    clock("max_sm_clock", "nvmlDeviceGetMaxClockInfo", device);
    clock("application_clock", "nvmlDeviceGetApplicationsClock", device);
    clock("default_application_clock", "nvmlDeviceGetDefaultApplicationsClock", device);
    number("persistence", "nvmlDeviceGetPersistenceMode", device);
    number("pcie_generation", "nvmlDeviceGetCurrPcieLinkGeneration", device);
    number("pcie_width", "nvmlDeviceGetCurrPcieLinkWidth", device);
    number("max_pcie_generation", "nvmlDeviceGetMaxPcieLinkGeneration", device);
    number("max_pcie_width", "nvmlDeviceGetMaxPcieLinkWidth", device);
    unsigned mig = 0, pending = 0;
    const auto get_mig =
        function_of<int(NvmlDevice, unsigned*, unsigned*)>(library_, "nvmlDeviceGetMigMode");
    if (get_mig != nullptr && get_mig(device, &mig, &pending) == 0)
      answer_.put("mig", fmt::format("{}", mig));
    read_nvlinks(device);
  }

  void read_nvlinks(NvmlDevice device) {
    const auto state =
        function_of<int(NvmlDevice, unsigned, unsigned*)>(library_, "nvmlDeviceGetNvLinkState");
    if (state == nullptr) return;
    unsigned active = 0;
    bool any = false;
    for (unsigned link = 0; link < kMostNvLinks; ++link) {
      unsigned on = 0;
      if (state(device, link, &on) != 0) continue;
      any = true;
      active += on != 0;
    }
    if (any) answer_.put("nvlinks", fmt::format("{}", active));
  }

  void read_pairs(const std::vector<NvmlDevice>& devices) {
    const auto ancestor = function_of<int(NvmlDevice, NvmlDevice, unsigned*)>(
        library_, "nvmlDeviceGetTopologyCommonAncestor");
    if (ancestor == nullptr) return;
    for (size_t i = 0; i < devices.size() && i < kMostPaired; ++i) {
      for (size_t k = i + 1; k < devices.size() && k < kMostPaired; ++k) {
        unsigned level = 0;
        if (ancestor(devices[i], devices[k], &level) == 0)
          answer_.put("pair", fmt::format("{} {} {}", i, k, level));
      }
    }
  }

  void* library_;
  const AnswerWriter& answer_;
};

std::optional<double> watts(std::string_view milliwatts) {
  const auto value = number_in<int64_t>(milliwatts);
  return value ? std::optional(static_cast<double>(*value) / 1000) : std::nullopt;
}

std::optional<bool> is_on(std::string_view text) {
  const auto value = number_in<int>(text);
  return value ? std::optional(*value != 0) : std::nullopt;
}

void set_fact(std::string_view key, const std::string& value, NvidiaGpu& gpu) {
  const auto number = number_in<int>(value);
  if (key == "name") gpu.name = value;
  if (key == "uuid") gpu.uuid = value;
  if (key == "memory") gpu.memory_bytes = number_in<int64_t>(value);
  if (key == "major") gpu.compute_major = number;
  if (key == "minor") gpu.compute_minor = number;
  if (key == "power_limit") gpu.power_limit_watts = watts(value);
  if (key == "default_power_limit") gpu.default_power_limit_watts = watts(value);
  if (key == "sm_clock") gpu.sm_clock_mhz = number;
  if (key == "max_sm_clock") gpu.max_sm_clock_mhz = number;
  if (key == "application_clock") gpu.application_clock_mhz = number;
  if (key == "default_application_clock") gpu.default_application_clock_mhz = number;
  if (key == "persistence") gpu.persistence = is_on(value);
  if (key == "mig") gpu.mig = is_on(value);
  if (key == "nvlinks") gpu.nvlinks = number;
  if (key == "pcie_generation") gpu.pcie.generation = number;
  if (key == "pcie_width") gpu.pcie.width = number;
  if (key == "max_pcie_generation") gpu.pcie.max_generation = number;
  if (key == "max_pcie_width") gpu.pcie.max_width = number;
}

// NVML_TOPOLOGY_INTERNAL 0, SINGLE 10, MULTIPLE 20, HOSTBRIDGE 30, NODE 40, SYSTEM 50.
std::optional<GpuPair> pair_in(const std::string& text) {
  int first = 0, second = 0, level = 0;
  if (std::sscanf(text.c_str(), "%d %d %d", &first, &second, &level) != 3 || level < 0 ||
      level > 50) {
    return std::nullopt;
  }
  return GpuPair{first, second, static_cast<GpuPath>(level / 10)};
}

}  // namespace

void ask_nvml(const Machine& machine, Environment& out) {
  const AnswerLines lines = ask_library(
      machine, driver_library_candidates(machine, "libnvidia-ml.so.1"), "nvmlInit_v2",
      [](void* library, const AnswerWriter& answer) { NvmlReader(library, answer).run(); },
      out.nvml);
  for (const auto& [key, value] : lines) {
    if (key == "driver" && out.nvidia_module.empty()) out.nvidia_module = value;
    if (key != "pair") continue;
    if (const auto pair = pair_in(value)) out.gpu_pairs.push_back(*pair);
  }
  out.nvidia_gpus = gpus_of_answer(lines);
}

std::vector<NvidiaGpu> gpus_of_answer(
    const std::vector<std::pair<std::string, std::string>>& lines) {
  std::vector<NvidiaGpu> gpus;
  for (const auto& [key, value] : lines) {
    if (key == "gpu") {
      gpus.emplace_back();
    } else if (!gpus.empty()) {
      set_fact(key, value, gpus.back());
    }
  }
  for (NvidiaGpu& gpu : gpus) {
    const Platform* const platform =
        Platforms::built_in().detect({gpu.name, gpu.memory_bytes, std::nullopt});
    if (platform != nullptr) gpu.platform = platform->name;
  }
  return gpus;
}

}  // namespace fathom
