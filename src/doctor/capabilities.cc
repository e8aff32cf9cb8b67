#include "doctor/capabilities.h"

#include <algorithm>

namespace fathom {
namespace {

using Obstacles = std::vector<Obstacle>;

bool has_nvidia(const Environment& e) {
  return e.has_pci_gpu(PciVendor::kNvidia) || !e.nvidia_module.empty() || !e.nvidia_gpus.empty() ||
         e.cuda_device_count.value_or(0) > 0;
}

bool has_amd(const Environment& e) { return e.has_pci_gpu(PciVendor::kAmd) || !e.amd_gpus.empty(); }

// "/dev/nvidia0", and not nvidiactl.
bool is_gpu_file(const DeviceFile& file) {
  return file.path.back() >= '0' && file.path.back() <= '9';
}

// What keeps a program from the GPU, the lowest layer first: what lies above it cannot work either.
Obstacles cuda_obstacles(const Environment& e) {
  if (!has_nvidia(e)) return {has_amd(e) ? Obstacle::kOnlyAmd : Obstacle::kNoGpu};
  if (!e.wsl) {  // WSL has neither module nor device files: /dev/dxg stands for both
    if (e.nvidia_module.empty()) return {Obstacle::kNoNvidiaDriver};
    if (std::none_of(e.nvidia_devices.begin(), e.nvidia_devices.end(), is_gpu_file))
      return {Obstacle::kNoDeviceFiles};
    if (std::any_of(e.nvidia_devices.begin(), e.nvidia_devices.end(),
                    [](const DeviceFile& file) { return !file.accessible; }))
      return {Obstacle::kDeviceFilesRefused};
  }
  if (!e.cuda.found()) return {Obstacle::kNoCudaLibrary};
  const bool hidden =
      e.cuda_visible_devices && !e.nvidia_gpus.empty() && e.cuda_device_count.value_or(0) == 0;
  if (!e.cuda.problem.empty()) return {hidden ? Obstacle::kDevicesHidden : Obstacle::kCudaFails};
  if (!e.cuda_device_count) return {Obstacle::kNotAsked};
  if (*e.cuda_device_count == 0)
    return {e.cuda_visible_devices ? Obstacle::kDevicesHidden : Obstacle::kCudaFails};
  return {};
}

Obstacles record_obstacles(const Environment& e) {
  Obstacles out = cuda_obstacles(e);
  if (out == Obstacles{Obstacle::kNoGpu} || out == Obstacles{Obstacle::kOnlyAmd}) return out;
  if (!e.cupti.found()) {
    out.push_back(Obstacle::kNoCupti);
  } else if (!e.cupti.problem.empty()) {
    out.push_back(Obstacle::kCuptiFails);
  }
  return out;
}

// Hardware counters need compute capability 7.0, PM sampling 7.5.
bool all_older_than(const Environment& e, int major, int minor) {
  return !e.nvidia_gpus.empty() &&
         std::all_of(e.nvidia_gpus.begin(), e.nvidia_gpus.end(), [&](const NvidiaGpu& gpu) {
           return gpu.compute_major &&
                  std::pair(*gpu.compute_major, gpu.compute_minor.value_or(0)) <
                      std::pair(major, minor);
         });
}

void add_permission(const Environment& e, Obstacles& out) {
  if (e.counters == CounterPermission::kRestricted) out.push_back(Obstacle::kCountersRestricted);
  if (e.counters == CounterPermission::kUnknown) out.push_back(Obstacle::kCountersUnknown);
  if (e.mps) out.push_back(Obstacle::kMps);
  if (e.dcgm) out.push_back(Obstacle::kDcgm);
}

Obstacles counter_obstacles(const Environment& e, bool has_interface, Obstacle lacking, int major,
                            int minor) {
  Obstacles out = record_obstacles(e);
  if (!out.empty() && (out[0] == Obstacle::kNoGpu || out[0] == Obstacle::kOnlyAmd)) return out;
  if (e.cupti.usable() && !e.cupti.version.empty() && !has_interface) out.push_back(lacking);
  if (all_older_than(e, major, minor)) out.push_back(Obstacle::kGpuTooOld);
  add_permission(e, out);
  return out;
}

Obstacles ncu_obstacles(const Environment& e) {
  Obstacles out = cuda_obstacles(e);
  if (!out.empty() && (out[0] == Obstacle::kNoGpu || out[0] == Obstacle::kOnlyAmd)) return out;
  if (e.tool("ncu") == nullptr) out.push_back(Obstacle::kNoNcu);
  if (all_older_than(e, 7, 0)) out.push_back(Obstacle::kGpuTooOld);
  add_permission(e, out);
  return out;
}

Obstacles rocprof_obstacles(const Environment& e) {
  if (!has_amd(e)) return {has_nvidia(e) ? Obstacle::kOnlyNvidia : Obstacle::kNoGpu};
  Obstacles out;
  if (!e.kfd) {
    out.push_back(Obstacle::kNoKfd);
  } else if (!e.kfd->accessible) {
    out.push_back(Obstacle::kKfdRefused);
  }
  if (e.tool("rocprofv3") == nullptr) out.push_back(Obstacle::kNoRocprof);
  return out;
}

bool is_remark(Obstacle obstacle) { return obstacle == Obstacle::kDcgm; }

bool is_unknown(Obstacle obstacle) {
  return obstacle == Obstacle::kCountersUnknown || obstacle == Obstacle::kNotAsked;
}

Capability judged(Part part, Obstacles obstacles) {
  CanDo verdict = CanDo::kYes;
  for (const Obstacle obstacle : obstacles) {
    if (is_remark(obstacle)) continue;
    if (!is_unknown(obstacle)) verdict = CanDo::kNo;
    if (is_unknown(obstacle) && verdict == CanDo::kYes) verdict = CanDo::kUnknown;
  }
  return {part, verdict, std::move(obstacles)};
}

}  // namespace

std::vector<Capability> capabilities(const Environment& e) {
  return {judged(Part::kAnalyze, {}),
          judged(Part::kScan, {}),
          judged(Part::kRecord, record_obstacles(e)),
          judged(Part::kCounters,
                 counter_obstacles(e, e.cupti.range_profiler, Obstacle::kNoRangeProfiler, 7, 0)),
          judged(Part::kPmSampling,
                 counter_obstacles(e, e.cupti.pm_sampling, Obstacle::kNoPmSampling, 7, 5)),
          judged(Part::kPcSampling,
                 counter_obstacles(e, e.cupti.pc_sampling, Obstacle::kNoPcSampling, 7, 0)),
          judged(Part::kNcu, ncu_obstacles(e)),
          judged(Part::kRocprof, rocprof_obstacles(e))};
}

}  // namespace fathom
