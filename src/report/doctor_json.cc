#include "base/json_writer.h"
#include "report/doctor_sentences.h"
#include "report/doctor_text.h"

namespace fathom {
namespace {

// Grows only when a key changes its meaning or goes; new keys may come at any time.
constexpr const char* kDoctorSchema = "fathom.doctor/1";

class EnvironmentWriter {
 public:
  explicit EnvironmentWriter(const Environment& environment) : e_(environment) {}

  std::string write() {
    w_.begin_object();
    text("schema", kDoctorSchema);
    system();
    w_.key("nvidia");
    nvidia();
    w_.key("amd");
    amd();
    w_.key("tools").begin_array();
    for (const ToolFact& tool : e_.tools) {
      w_.begin_object();
      text("name", tool.name);
      text("path", tool.path);
      text("version", tool.version);
      w_.end_object();
    }
    w_.end_array();
    parts();
    w_.end_object();
    return w_.take() + "\n";
  }

 private:
  // An empty text is unknown.
  void text(std::string_view key, std::string_view value) {
    w_.key(key);
    value.empty() ? w_.null() : w_.value(value);
  }
  void number(std::string_view key, std::optional<int64_t> value) {
    w_.key(key);
    value ? w_.value(*value) : w_.null();
  }
  void real(std::string_view key, std::optional<double> value) {
    w_.key(key);
    value ? w_.value(*value) : w_.null();
  }
  void truth(std::string_view key, std::optional<bool> value) {
    w_.key(key);
    value ? w_.value(*value) : w_.null();
  }

  void system() {
    w_.key("system").begin_object();
    text("distribution", e_.distribution);
    text("kernel", e_.kernel);
    text("container", container_name(e_.container));
    truth("wsl", e_.wsl);
    truth("cap_sys_admin", e_.sys_admin);
    number("perf_event_paranoid", e_.perf_event_paranoid);
    w_.key("pci_gpus").begin_array();
    for (const PciGpu& gpu : e_.pci_gpus) {
      w_.begin_object();
      text("address", gpu.address);
      text("vendor", gpu.vendor == PciVendor::kNvidia ? "NVIDIA" : "AMD");
      text("driver", gpu.driver);
      link(gpu.link);
      w_.end_object();
    }
    w_.end_array().end_object();
  }

  void link(const PcieLink& link) {
    number("pcie_generation", link.generation);
    number("pcie_width", link.width);
    number("max_pcie_generation", link.max_generation);
    number("max_pcie_width", link.max_width);
  }

  void device(const DeviceFile& file) {
    w_.begin_object();
    text("path", file.path);
    truth("accessible", file.accessible);
    w_.end_object();
  }

  void library(std::string_view key, const LibraryFact& library) {
    w_.key(key).begin_object();
    text("path", library.path);
    text("version", library.version);
    text("problem", library.problem);
    w_.end_object();
  }

  void nvidia() {
    w_.begin_object();
    text("driver", e_.nvidia_module);
    w_.key("devices").begin_array();
    for (const DeviceFile& file : e_.nvidia_devices) device(file);
    w_.end_array();
    truth("profiling_admin_only", e_.profiling_admin_only);
    truth("counters_allowed", e_.counters == CounterPermission::kUnknown
                                  ? std::nullopt
                                  : std::optional(e_.counters != CounterPermission::kRestricted));
    library("cuda", e_.cuda);
    number("visible_devices", e_.cuda_device_count);
    w_.key("CUDA_VISIBLE_DEVICES");
    e_.cuda_visible_devices ? w_.value(*e_.cuda_visible_devices) : w_.null();
    library("nvml", e_.nvml);
    library("cupti", e_.cupti);
    truth("range_profiler", e_.cupti.range_profiler);
    truth("pm_sampling", e_.cupti.pm_sampling);
    truth("pc_sampling", e_.cupti.pc_sampling);
    truth("mps", e_.mps);
    truth("dcgm", e_.dcgm);
    w_.key("gpus").begin_array();
    for (const NvidiaGpu& gpu : e_.nvidia_gpus) nvidia_gpu(gpu);
    w_.end_array().key("topology").begin_array();
    for (const GpuPair& pair : e_.gpu_pairs) {
      constexpr const char* kPaths[] = {"internal", "PIX", "PXB", "PHB", "NODE", "SYS"};
      w_.begin_object();
      number("first", pair.first);
      number("second", pair.second);
      text("path", kPaths[static_cast<size_t>(pair.path)]);
      w_.end_object();
    }
    w_.end_array().end_object();
  }

  void nvidia_gpu(const NvidiaGpu& gpu) {
    w_.begin_object();
    text("name", gpu.name);
    text("uuid", gpu.uuid);
    text("platform", gpu.platform);
    number("compute_major", gpu.compute_major);
    number("compute_minor", gpu.compute_minor);
    number("memory_bytes", gpu.memory_bytes);
    real("power_limit_watts", gpu.power_limit_watts);
    real("default_power_limit_watts", gpu.default_power_limit_watts);
    number("sm_clock_mhz", gpu.sm_clock_mhz);
    number("max_sm_clock_mhz", gpu.max_sm_clock_mhz);
    number("application_clock_mhz", gpu.application_clock_mhz);
    number("default_application_clock_mhz", gpu.default_application_clock_mhz);
    truth("persistence", gpu.persistence);
    truth("mig", gpu.mig);
    number("nvlinks", gpu.nvlinks);
    link(gpu.pcie);
    w_.end_object();
  }

  void amd() {
    w_.begin_object();
    text("driver", e_.amdgpu_module);
    text("rocm", e_.rocm_version);
    w_.key("kfd");
    if (e_.kfd) {
      device(*e_.kfd);
    } else {
      w_.null();
    }
    w_.key("gpus").begin_array();
    for (const AmdGpu& gpu : e_.amd_gpus) {
      w_.begin_object();
      text("name", gpu.name);
      text("target", gpu.target);
      number("compute_units", gpu.compute_units);
      number("memory_bytes", gpu.memory_bytes);
      w_.end_object();
    }
    w_.end_array().end_object();
  }

  void parts() {
    w_.key("parts").begin_array();
    for (const Capability& one : capabilities(e_)) {
      w_.begin_object();
      text("part", part_name(one.part));
      text("works", verdict_name(one.verdict));
      w_.key("obstacles").begin_array();
      for (const Obstacle obstacle : one.obstacles) {
        w_.begin_object();
        text("kind", obstacle_name(obstacle));
        text("text", obstacle_text(e_, obstacle));
        text("fix", obstacle_fix(e_, obstacle));
        w_.end_object();
      }
      w_.end_array().end_object();
    }
    w_.end_array();
  }

  const Environment& e_;
  JsonWriter w_{true};
};

}  // namespace

std::string doctor_json(const Environment& environment) {
  return EnvironmentWriter(environment).write();
}

}  // namespace fathom
