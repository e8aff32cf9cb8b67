#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fathom {

// What a machine offers for measuring GPU work: facts only, each unknown unless it was seen.

// A shared library that was searched for. Without a path: not found.
struct LibraryFact {
  std::string path, version;  // an empty version is unknown
  std::string problem;        // what it or its driver answered; empty: none
  bool found() const { return !path.empty(); }
  bool usable() const { return found() && problem.empty(); }
};

struct CuptiFact : LibraryFact {
  bool range_profiler = false, pm_sampling = false,
       pc_sampling = false;  // the version has these interfaces
};

// A program on PATH or where its installer puts it. Without a path: not found.
struct ToolFact {
  std::string name, path, version;
  bool found() const { return !path.empty(); }
};

struct DeviceFile {
  std::string path;
  bool accessible = false;  // for reading and writing by this user
};

struct PcieLink {
  std::optional<int> generation, width, max_generation, max_width;
};

struct NvidiaGpu {
  std::string name, uuid, platform;  // platform: as `fathom platforms` lists it; empty: none fits
  std::optional<int> compute_major, compute_minor;
  std::optional<int64_t> memory_bytes;
  std::optional<double> power_limit_watts, default_power_limit_watts;
  std::optional<int> sm_clock_mhz, max_sm_clock_mhz;  // now and at most
  std::optional<int> application_clock_mhz, default_application_clock_mhz;
  std::optional<bool> persistence, mig;
  std::optional<int> nvlinks;  // active links
  PcieLink pcie;
};

// How far apart two GPUs are on the PCIe tree, as nvidia-smi topo names it.
enum class GpuPath : uint8_t { kInternal, kPix, kPxb, kPhb, kNode, kSys };

struct GpuPair {
  int first = 0, second = 0;
  GpuPath path = GpuPath::kSys;
};

struct AmdGpu {
  std::string name, target;  // "gfx942"
  std::optional<int> compute_units;
  std::optional<int64_t> memory_bytes;
};

enum class PciVendor : uint8_t { kNvidia, kAmd, kOther };

// A display or 3D controller on the PCI bus.
struct PciGpu {
  std::string address, driver;  // without a driver: none is bound
  PciVendor vendor = PciVendor::kOther;
  PcieLink link;
};

enum class ContainerKind : uint8_t { kNone, kDocker, kPodman, kKubernetes, kApptainer, kOther };

// Who may read the GPU's counters.
enum class CounterPermission : uint8_t {
  kUnknown,     // the driver does not tell
  kEveryone,    // RmProfilingAdminOnly is 0
  kPrivileged,  // restricted, and this process has CAP_SYS_ADMIN
  kRestricted   // restricted, and it has not
};

struct Environment {
  // The system.
  std::string kernel, distribution;  // "6.8.0-45-generic", "Ubuntu 24.04.1 LTS"
  ContainerKind container = ContainerKind::kNone;
  bool wsl = false;
  std::optional<bool> sys_admin;  // CAP_SYS_ADMIN of the machine, not only of a container
  std::optional<int> perf_event_paranoid;
  std::vector<PciGpu> pci_gpus;

  // NVIDIA.
  std::string nvidia_module;  // version of the loaded kernel module; empty: not loaded
  std::vector<DeviceFile> nvidia_devices;
  std::optional<bool> profiling_admin_only;  // RmProfilingAdminOnly
  CounterPermission counters = CounterPermission::kUnknown;
  LibraryFact nvml, cuda;
  CuptiFact cupti;
  std::string cuda_driver_version;       // "13.0": the newest CUDA that the driver runs
  std::optional<int> cuda_device_count;  // that a program sees
  std::optional<std::string> cuda_visible_devices;
  std::vector<NvidiaGpu> nvidia_gpus;
  std::vector<GpuPair> gpu_pairs;
  bool mps = false;   // its control daemon runs
  bool dcgm = false;  // its host engine runs, which may hold the counters

  // AMD.
  std::string amdgpu_module, rocm_version;
  std::optional<DeviceFile> kfd;
  std::vector<AmdGpu> amd_gpus;

  std::vector<ToolFact> tools;  // ncu, nsys, rocprofv3

  const ToolFact* tool(std::string_view name) const {
    for (const ToolFact& one : tools) {
      if (one.name == name && one.found()) return &one;
    }
    return nullptr;
  }
  bool has_pci_gpu(PciVendor vendor) const {
    for (const PciGpu& gpu : pci_gpus) {
      if (gpu.vendor == vendor) return true;
    }
    return false;
  }
};

}  // namespace fathom
