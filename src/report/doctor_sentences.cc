#include "report/doctor_sentences.h"

#include <fmt/format.h>

#include <cstdlib>

namespace fathom {
namespace {

bool in_container(const Environment& e) { return e.container != ContainerKind::kNone; }

std::string container_option(const Environment& e, std::string_view docker,
                             std::string_view kubernetes, std::string_view apptainer) {
  switch (e.container) {
    case ContainerKind::kKubernetes:
      return std::string(kubernetes);
    case ContainerKind::kApptainer:
      return std::string(apptainer);
    case ContainerKind::kPodman:
      return fmt::format("podman run {} …", docker);
    default:
      return fmt::format("docker run {} …", docker);
  }
}

std::string gpu_access_fix(const Environment& e) {
  if (!in_container(e)) return "sudo nvidia-modprobe -u -c=0";
  if (e.container == ContainerKind::kPodman) return "podman run --device nvidia.com/gpu=all …";
  return container_option(e, "--gpus all",
                          "resources.limits: {nvidia.com/gpu: 1} in the pod's container",
                          "apptainer exec --nv …");
}

std::string counters_fix(const Environment& e) {
  if (in_container(e))
    return container_option(e, "--cap-add=SYS_ADMIN",
                            "securityContext: {capabilities: {add: [SYS_ADMIN]}} in the pod's "
                            "container",
                            "sudo apptainer exec --nv --add-caps CAP_SYS_ADMIN …");
  return "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee "
         "/etc/modprobe.d/nvidia-profiling.conf && sudo update-initramfs -u && sudo reboot";
}

// Drivers before 580 run CUDA 12 at most.
bool runs_cuda_13(const Environment& e) {
  if (!e.cuda_driver_version.empty()) return std::atoi(e.cuda_driver_version.c_str()) >= 13;
  return e.nvidia_module.empty() || std::atoi(e.nvidia_module.c_str()) >= 580;
}

std::string_view cupti_package(const Environment& e) {
  return runs_cuda_13(e) ? "nvidia-cuda-cupti" : "nvidia-cuda-cupti-cu12";
}

// The toolkit's package for the driver's CUDA version: cuda-nsight-compute-13-0.
std::string ncu_fix(const Environment& e) {
  std::string version = e.cuda_driver_version;
  for (char& c : version) c = c == '.' ? '-' : c;
  return version.empty() ? "sudo apt install nsight-compute"
                         : "sudo apt install cuda-nsight-compute-" + version;
}

std::string refused_files(const Environment& e) {
  std::string out;
  for (const DeviceFile& file : e.nvidia_devices) {
    if (!file.accessible) out += (out.empty() ? "" : ", ") + file.path;
  }
  return out;
}

}  // namespace

std::string_view part_name(Part part) {
  switch (part) {
    case Part::kAnalyze:
      return "analyze";
    case Part::kScan:
      return "scan";
    case Part::kRecord:
      return "record";
    case Part::kCounters:
      return "counters";
    case Part::kPmSampling:
      return "pm_sampling";
    case Part::kPcSampling:
      return "pc_sampling";
    case Part::kNcu:
      return "ncu";
    case Part::kRocprof:
      return "rocprof";
  }
  return "";
}

std::string_view part_title(Part part) {
  switch (part) {
    case Part::kAnalyze:
      return "analyze, diff, replay pack";
    case Part::kScan:
      return "scan";
    case Part::kRecord:
      return "record kernels (CUPTI)";
    case Part::kCounters:
      return "counters per kernel (CUPTI)";
    case Part::kPmSampling:
      return "PM sampling (CUPTI)";
    case Part::kPcSampling:
      return "PC sampling (CUPTI)";
    case Part::kNcu:
      return "profile with ncu";
    case Part::kRocprof:
      return "profile with rocprofv3";
  }
  return "";
}

std::string_view verdict_name(CanDo verdict) {
  switch (verdict) {
    case CanDo::kYes:
      return "yes";
    case CanDo::kNo:
      return "no";
    case CanDo::kUnknown:
      return "unknown";
  }
  return "";
}

std::string_view container_name(ContainerKind kind) {
  switch (kind) {
    case ContainerKind::kNone:
      return "";
    case ContainerKind::kDocker:
      return "Docker";
    case ContainerKind::kPodman:
      return "Podman";
    case ContainerKind::kKubernetes:
      return "Kubernetes";
    case ContainerKind::kApptainer:
      return "Apptainer";
    case ContainerKind::kOther:
      return "other";
  }
  return "";
}

std::string_view obstacle_name(Obstacle obstacle) {
  switch (obstacle) {
    case Obstacle::kNoGpu:
      return "no_gpu";
    case Obstacle::kOnlyAmd:
      return "only_amd";
    case Obstacle::kOnlyNvidia:
      return "only_nvidia";
    case Obstacle::kNoNvidiaDriver:
      return "no_nvidia_driver";
    case Obstacle::kNoDeviceFiles:
      return "no_device_files";
    case Obstacle::kDeviceFilesRefused:
      return "device_files_refused";
    case Obstacle::kNoCudaLibrary:
      return "no_cuda_library";
    case Obstacle::kCudaFails:
      return "cuda_fails";
    case Obstacle::kDevicesHidden:
      return "devices_hidden";
    case Obstacle::kNoCupti:
      return "no_cupti";
    case Obstacle::kCuptiFails:
      return "cupti_fails";
    case Obstacle::kNoRangeProfiler:
      return "no_range_profiler";
    case Obstacle::kNoPmSampling:
      return "no_pm_sampling";
    case Obstacle::kNoPcSampling:
      return "no_pc_sampling";
    case Obstacle::kGpuTooOld:
      return "gpu_too_old";
    case Obstacle::kCountersRestricted:
      return "counters_restricted";
    case Obstacle::kCountersUnknown:
      return "counters_unknown";
    case Obstacle::kMps:
      return "mps";
    case Obstacle::kDcgm:
      return "dcgm";
    case Obstacle::kNoNcu:
      return "no_ncu";
    case Obstacle::kNoKfd:
      return "no_kfd";
    case Obstacle::kKfdRefused:
      return "kfd_refused";
    case Obstacle::kNoRocprof:
      return "no_rocprofv3";
    case Obstacle::kNotAsked:
      return "not_asked";
  }
  return "";
}

std::string obstacle_text(const Environment& e, Obstacle obstacle) {
  switch (obstacle) {
    case Obstacle::kNoGpu:
      return "no GPU found";
    case Obstacle::kOnlyAmd:
      return "no NVIDIA GPU found";
    case Obstacle::kOnlyNvidia:
      return "no AMD GPU found";
    case Obstacle::kNoNvidiaDriver:
      return "NVIDIA GPU on the PCI bus, but the nvidia kernel module is not loaded";
    case Obstacle::kNoDeviceFiles:
      return "no device file /dev/nvidia0";
    case Obstacle::kDeviceFilesRefused:
      return fmt::format("no access to {}", refused_files(e));
    case Obstacle::kNoCudaLibrary:
      return "libcuda.so.1 not found";
    case Obstacle::kCudaFails:
      return e.cuda.problem.empty() ? std::string("the CUDA driver finds no device")
                                    : fmt::format("the CUDA driver fails: {}", e.cuda.problem);
    case Obstacle::kDevicesHidden:
      return fmt::format("CUDA_VISIBLE_DEVICES='{}' hides all GPUs",
                         e.cuda_visible_devices.value_or(""));
    case Obstacle::kNoCupti:
      return "libcupti not found";
    case Obstacle::kCuptiFails:
      return fmt::format("libcupti does not load: {}", e.cupti.problem);
    case Obstacle::kNoRangeProfiler:
      return fmt::format("CUPTI {} has no range profiler", e.cupti.version);
    case Obstacle::kNoPmSampling:
      return fmt::format("CUPTI {} has no PM sampling", e.cupti.version);
    case Obstacle::kNoPcSampling:
      return fmt::format("CUPTI {} has no PC sampling", e.cupti.version);
    case Obstacle::kGpuTooOld:
      return "the GPU is too old: counters and PC sampling need compute capability 7.0, PM "
             "sampling 7.5";
    case Obstacle::kCountersRestricted:
      return "counters are restricted to administrators (RmProfilingAdminOnly 1)";
    case Obstacle::kCountersUnknown:
      return "counter permission unknown (no RmProfilingAdminOnly in /proc/driver/nvidia/params)";
    case Obstacle::kMps:
      return "MPS is running; CUPTI does not count under MPS";
    case Obstacle::kDcgm:
      return "DCGM is running and may hold the counters";
    case Obstacle::kNoNcu:
      return "ncu not found";
    case Obstacle::kNoKfd:
      return "no device file /dev/kfd";
    case Obstacle::kKfdRefused:
      return "no access to /dev/kfd";
    case Obstacle::kNoRocprof:
      return "rocprofv3 not found";
    case Obstacle::kNotAsked:
      return "the driver was not queried";
  }
  return "";
}

std::string obstacle_fix(const Environment& e, Obstacle obstacle) {
  switch (obstacle) {
    case Obstacle::kNoNvidiaDriver:
      return in_container(e) ? "" : "sudo modprobe nvidia";
    case Obstacle::kNoDeviceFiles:
      return gpu_access_fix(e);
    case Obstacle::kDeviceFilesRefused:
      return in_container(e) ? gpu_access_fix(e) : "sudo chmod 0666 /dev/nvidia*";
    case Obstacle::kNoCudaLibrary:
      return in_container(e)
                 ? container_option(e, "--gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility",
                                    "env: NVIDIA_DRIVER_CAPABILITIES=compute,utility in the pod's "
                                    "container",
                                    "apptainer exec --nv …")
                 : fmt::format("sudo apt install libnvidia-compute-{}",
                               e.nvidia_module.substr(0, e.nvidia_module.find('.')));
    case Obstacle::kDevicesHidden:
      return "unset CUDA_VISIBLE_DEVICES";
    case Obstacle::kNoCupti:
    case Obstacle::kCuptiFails:
      return fmt::format("pip install {}", cupti_package(e));
    case Obstacle::kNoRangeProfiler:
    case Obstacle::kNoPmSampling:
    case Obstacle::kNoPcSampling:
      return fmt::format("pip install --upgrade {}", cupti_package(e));
    case Obstacle::kCountersRestricted:
      return counters_fix(e);
    case Obstacle::kMps:
      return "echo quit | nvidia-cuda-mps-control";
    case Obstacle::kDcgm:
      return "dcgmi profmon --pause";
    case Obstacle::kNoNcu:
      return ncu_fix(e);
    case Obstacle::kNoKfd:
      return in_container(e) ? container_option(e, "--device /dev/kfd --device /dev/dri",
                                                "resources.limits: {amd.com/gpu: 1} in the pod's "
                                                "container",
                                                "apptainer exec --rocm …")
                             : "sudo modprobe amdgpu";
    case Obstacle::kKfdRefused:
      return in_container(e) ? container_option(e, "--group-add render --group-add video", "", "")
                             : "sudo usermod -aG render,video $USER";
    case Obstacle::kNoRocprof:
      return "sudo apt install rocprofiler-sdk";
    default:
      return "";
  }
}

}  // namespace fathom
