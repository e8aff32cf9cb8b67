#include <sys/stat.h>

#include <cstdlib>

#include "checks.h"
#include "doctor/capabilities.h"
#include "doctor/examine.h"
#include "doctor/fake_machine.h"
#include "doctor/libraries.h"
#include "doctor/system_facts.h"
#include "report/doctor_text.h"
#include "report/record_text.h"

namespace fathom {
namespace {

using test::FakeMachine;

bool has_text(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// For as long as the object lives.
class FakeDriverMode {
 public:
  explicit FakeDriverMode(const char* mode) { setenv("FAKE_DRIVER", mode, 1); }
  ~FakeDriverMode() { unsetenv("FAKE_DRIVER"); }
};

Capability capability(const Environment& environment, Part part) {
  return capabilities(environment).at(static_cast<size_t>(part));
}

std::string verdicts(const Environment& environment) {
  std::string out;
  for (const Capability& one : capabilities(environment)) {
    out += one.verdict == CanDo::kYes ? 'y' : one.verdict == CanDo::kNo ? 'n' : '?';
  }
  return out;
}

using Obstacles = std::vector<Obstacle>;

TEST(Doctor, AnEmptyMachineCanReadTracesAndCode) {
  const FakeMachine fake;
  const Environment found = examine(fake.machine());
  EXPECT_EQ(verdicts(found), "yynnnnnn");
  EXPECT_EQ(capability(found, Part::kCounters).obstacles, Obstacles{Obstacle::kNoGpu});
  EXPECT_TRUE(has_text(doctor_text(found, false), "GPU         none found\n"));
  EXPECT_FALSE(has_text(doctor_text(found, false), "To fix"));
}

TEST(Doctor, AMachineWithEverything) {
  FakeMachine fake;
  const Environment found = examine(fake.with_h200().machine());
  EXPECT_EQ(verdicts(found), "yyyyyyyn");
  EXPECT_EQ(found.nvidia_module, "580.65.06");
  EXPECT_EQ(found.cuda_driver_version, "13.0");
  EXPECT_EQ(found.cuda_device_count, 2);
  EXPECT_EQ(found.cupti.version, "13.0.1");
  EXPECT_EQ(found.cupti.path, "/usr/local/cuda-13.0/extras/CUPTI/lib64/libcupti.so.13");
  ASSERT_EQ(found.nvidia_gpus.size(), 2U);
  const NvidiaGpu& gpu = found.nvidia_gpus[0];
  EXPECT_EQ(gpu.name, "NVIDIA H200");
  EXPECT_EQ(gpu.platform, "H200");
  EXPECT_EQ(gpu.nvlinks, 17);
  EXPECT_EQ(gpu.power_limit_watts, 600);
  EXPECT_EQ(gpu.pcie.generation, 5);
  EXPECT_FALSE(gpu.pcie.max_generation.has_value()) << "the library has no such function";
  ASSERT_EQ(found.gpu_pairs.size(), 1U);
  EXPECT_EQ(found.gpu_pairs[0].path, GpuPath::kNode);
  ASSERT_NE(found.tool("ncu"), nullptr);
  EXPECT_EQ(found.tool("ncu")->version, "2025.3.0.0");
  const std::string text = doctor_text(found, false);
  for (const char* part :
       {"NVIDIA H200 · 140 GiB · sm_90 · --platform 'H200'",
        "SM clock 345 MHz, at most 1980 MHz · application clock not locked",
        "locked: application clock 1200 MHz", "power limit 600 W (default 700 W)",
        "PCIe gen 5 x16 · NVLink: 17 active links", "1 pair: host bridges of a NUMA node",
        "open to all users (RmProfilingAdminOnly 0)", "13.0 · /usr/lib/x86_64-linux-gnu/libcuda"})
    EXPECT_TRUE(has_text(text, part)) << part << "\n" << text;
}

TEST(Doctor, RestrictedCountersAndWhoMayReadThem) {
  FakeMachine fake;
  fake.with_h200().put("/proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n");
  const Environment closed = examine(fake.machine());
  EXPECT_EQ(verdicts(closed), "yyynnnnn") << "recording needs no permission";
  EXPECT_EQ(capability(closed, Part::kCounters).obstacles,
            Obstacles{Obstacle::kCountersRestricted});
  EXPECT_TRUE(has_text(doctor_text(closed, false), "NVreg_RestrictProfilingToAdminUsers=0"));

  fake.put("/.dockerenv", "");
  EXPECT_TRUE(
      has_text(doctor_text(examine(fake.machine()), false), "docker run --cap-add=SYS_ADMIN"));

  fake.put("/proc/self/status", "CapEff:\t0000000000200000\n");
  EXPECT_EQ(verdicts(examine(fake.machine())), "yyyyyyyn");
  // All other capabilities, but not this one.
  fake.put("/proc/self/status", "CapEff:\t000001ffffdfffff\n");
  EXPECT_EQ(verdicts(examine(fake.machine())), "yyynnnnn");
  // A rootless container has it for itself alone.
  fake.put("/proc/self/status", "CapEff:\t000001ffffffffff\n");
  fake.put("/proc/self/uid_map", "         0       1000          1\n");
  EXPECT_EQ(verdicts(examine(fake.machine())), "yyynnnnn");
}

TEST(Doctor, RestrictedCountersAreSaidBeforeAProgramRuns) {
  FakeMachine fake;
  fake.with_h200().put("/proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n");
  const CountersAsked by_cupti{true, false, false}, by_ncu{false, true, true},
      by_no_ncu{false, true, false};
  for (const CountersAsked& asked : {by_cupti, by_ncu}) {
    const auto notes = counter_notes(asked, examine_permissions(fake.machine()));
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_TRUE(has_text(notes[0], "restricted to administrators")) << notes[0];
    EXPECT_TRUE(has_text(notes[0], "NVreg_RestrictProfilingToAdminUsers=0")) << notes[0];
  }
  // Who has no ncu needs no permission for it.
  const auto without = counter_notes(by_no_ncu, examine_permissions(fake.machine()));
  ASSERT_EQ(without.size(), 1u);
  EXPECT_TRUE(has_text(without[0], "ncu was not found"));
  fake.put("/proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n");
  EXPECT_TRUE(counter_notes(by_ncu, examine_permissions(fake.machine())).empty());
}

TEST(Doctor, PermissionIsUnknownWhereTheDriverDoesNotTell) {
  FakeMachine fake;
  fake.with_h200().put("/proc/driver/nvidia/params", "RmProfilingAdminOnly:\n");
  EXPECT_EQ(verdicts(examine(fake.machine())), "yyy????n");
}

TEST(Doctor, ADriverThatHangsIsLeftBehind) {
  FakeMachine fake;
  fake.with_h200().machine().patience = std::chrono::milliseconds(300);
  const FakeDriverMode mode("cuda-hangs");
  const auto start = std::chrono::steady_clock::now();
  const Environment found = examine(fake.machine());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_EQ(found.cuda.problem, "did not answer within 0.3 s");
  EXPECT_EQ(found.cuda.path, "/usr/lib/x86_64-linux-gnu/libcuda.so.1");
  EXPECT_EQ(found.cuda_driver_version, "13.0") << "answered before it hung";
  EXPECT_EQ(capability(found, Part::kRecord).obstacles, Obstacles{Obstacle::kCudaFails});
}

TEST(Doctor, ALibraryThatCrashesTakesNobodyWithIt) {
  FakeMachine fake;
  fake.with_h200();
  const FakeDriverMode mode("nvml-crashes");
  const Environment found = examine(fake.machine());
  EXPECT_TRUE(has_text(found.nvml.problem, "crashed")) << found.nvml.problem;
  ASSERT_EQ(found.nvidia_gpus.size(), 2U) << "CUDA tells of them too";
  EXPECT_EQ(found.nvidia_gpus[1].name, "NVIDIA H200");
  EXPECT_EQ(verdicts(found), "yyyyyyyn");
}

TEST(Doctor, LibrariesThatDoNotFitTheDriver) {
  FakeMachine fake;
  fake.with_h200();
  const FakeDriverMode mode("mismatch");
  EXPECT_EQ(examine(fake.machine()).nvml.problem,
            "nvmlInit: error 18: Driver/library version mismatch");
}

TEST(Doctor, ATextIsNoLibrary) {
  FakeMachine fake;
  fake.with_h200().put("/usr/lib/x86_64-linux-gnu/libcuda.so.1", "not a library");
  const Environment found = examine(fake.machine());
  EXPECT_EQ(found.cuda.path, "/usr/lib/x86_64-linux-gnu/libcuda.so.1");
  EXPECT_FALSE(found.cuda.problem.empty());
  EXPECT_EQ(capability(found, Part::kRecord).verdict, CanDo::kNo);
}

TEST(Doctor, HiddenDevicesAreNoBrokenDriver) {
  FakeMachine fake;
  fake.with_h200();
  const FakeDriverMode mode("cuda-hides");
  EXPECT_EQ(capability(examine(fake.machine()), Part::kRecord).obstacles,
            Obstacles{Obstacle::kCudaFails});
  fake.set("CUDA_VISIBLE_DEVICES", "-1");
  const Environment found = examine(fake.machine());
  EXPECT_EQ(capability(found, Part::kRecord).obstacles, Obstacles{Obstacle::kDevicesHidden});
  EXPECT_TRUE(has_text(doctor_text(found, false), "unset CUDA_VISIBLE_DEVICES"));
}

TEST(Doctor, WhatKeepsAProgramFromTheGpuLayerByLayer) {
  const auto obstacle = [](const Environment& found) {
    return capability(found, Part::kRecord).obstacles.at(0);
  };
  Environment e;
  e.pci_gpus = {{"0000:01:00.0", "nouveau", PciVendor::kNvidia, {}}};
  EXPECT_EQ(obstacle(e), Obstacle::kNoNvidiaDriver);
  e.nvidia_module = "580.65.06";
  EXPECT_EQ(obstacle(e), Obstacle::kNoDeviceFiles);
  e.nvidia_devices = {{"/dev/nvidiactl", true}};
  EXPECT_EQ(obstacle(e), Obstacle::kNoDeviceFiles) << "the control file is no GPU";
  e.nvidia_devices.push_back({"/dev/nvidia0", false});
  EXPECT_EQ(obstacle(e), Obstacle::kDeviceFilesRefused);
  e.nvidia_devices.back().accessible = true;
  EXPECT_EQ(obstacle(e), Obstacle::kNoCudaLibrary);
  e.cuda.path = "/usr/lib/libcuda.so.1";
  EXPECT_EQ(obstacle(e), Obstacle::kNotAsked);
  e.cuda_device_count = 1;
  EXPECT_EQ(obstacle(e), Obstacle::kNoCupti);
  e.cupti.path = "/usr/lib/libcupti.so.12";
  EXPECT_EQ(capability(e, Part::kRecord).verdict, CanDo::kYes);
  e.counters = CounterPermission::kEveryone;
  e.cupti.version = "11.8";
  EXPECT_EQ(capability(e, Part::kCounters).obstacles, Obstacles{Obstacle::kNoRangeProfiler});
  e.cupti.range_profiler = true;
  EXPECT_EQ(capability(e, Part::kCounters).verdict, CanDo::kYes);
  EXPECT_EQ(capability(e, Part::kPmSampling).obstacles, Obstacles{Obstacle::kNoPmSampling});
  e.nvidia_gpus.emplace_back();
  e.nvidia_gpus[0].compute_major = 6;
  EXPECT_EQ(capability(e, Part::kCounters).obstacles, Obstacles{Obstacle::kGpuTooOld});
  e.nvidia_gpus[0].compute_major = 7;
  EXPECT_EQ(capability(e, Part::kCounters).verdict, CanDo::kYes);
  e.dcgm = true;
  EXPECT_EQ(capability(e, Part::kCounters).verdict, CanDo::kYes) << "it may hold the counters";
  EXPECT_EQ(capability(e, Part::kCounters).obstacles, Obstacles{Obstacle::kDcgm});
  e.mps = true;
  EXPECT_EQ(capability(e, Part::kCounters).verdict, CanDo::kNo);
  EXPECT_EQ(capability(e, Part::kRecord).verdict, CanDo::kYes);
}

TEST(Doctor, WhereCuptiIsLookedFor) {
  FakeMachine fake;
  fake.put("/usr/local/cuda-12.8/extras/CUPTI/lib64/libcupti.so.12", "")
      .put("/usr/local/cuda-13.0/extras/CUPTI/lib64/libcupti.so.13", "")
      .put("/usr/local/lib/python3.12/dist-packages/nvidia/cuda_cupti/lib/libcupti.so.12", "")
      .put("/home/me/venv/bin/python3", "")
      .put("/home/me/venv/lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13", "")
      .put("/opt/mine/libcupti.so.12", "")
      .put("/opt/mine/libcuptiutil.so", "")
      .set("PATH", "/home/me/venv/bin:relative/bin:/usr/bin")
      .set("LD_LIBRARY_PATH", "/opt/mine");
  std::vector<std::string> shown;
  for (const std::string& path : cupti_candidates(fake.machine()))
    shown.push_back(fake.machine().shown(path));
  EXPECT_EQ(shown, (std::vector<std::string>{
                       "/opt/mine/libcupti.so.12",
                       "/usr/local/cuda-13.0/extras/CUPTI/lib64/libcupti.so.13",
                       "/usr/local/cuda-12.8/extras/CUPTI/lib64/libcupti.so.12",
                       "/home/me/venv/lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13",
                       "/usr/local/lib/python3.12/dist-packages/nvidia/cuda_cupti/lib/"
                       "libcupti.so.12"}));
}

TEST(Doctor, Tools) {
  FakeMachine fake;
  fake.machine().patience = std::chrono::milliseconds(500);
  fake.program("/usr/bin/nsys", "echo NVIDIA Nsight Systems version 2025.3.1.90-1")
      .program("/opt/rocm/bin/rocprofv3", "while :; do echo 1.0.0; done")
      .put("/usr/bin/ncu", "no program");
  const Environment found = examine(fake.machine());
  EXPECT_EQ(found.tool("ncu"), nullptr);
  ASSERT_NE(found.tool("nsys"), nullptr);
  EXPECT_EQ(found.tool("nsys")->version, "2025.3.1.90");
  ASSERT_NE(found.tool("rocprofv3"), nullptr);
  EXPECT_EQ(found.tool("rocprofv3")->version, "") << "it prints without end";
  fake.machine().may_run = false;
  EXPECT_EQ(examine(fake.machine()).tool("nsys")->version, "");
}

TEST(Doctor, Amd) {
  FakeMachine fake;
  const std::string nodes = "/sys/class/kfd/kfd/topology/nodes/";
  fake.put(nodes + "0/properties", "cpu_cores_count 96\nsimd_count 0\n")
      .put(nodes + "1/properties",
           "simd_count 1216\nsimd_per_cu 4\ngfx_target_version 90402\nmax_waves_per_simd 8\n")
      .put(nodes + "1/name", "ip discovery\n")
      .put(nodes + "1/mem_banks/0/properties", "heap_type 1\nsize_in_bytes 206141652992\n")
      .put(nodes + "2/properties", "simd_count 416\nsimd_per_cu 4\ngfx_target_version 90010\n")
      .put("/opt/rocm/.info/version", "6.4.1-83\n")
      .put("/dev/kfd", "");
  const Environment found = examine(fake.machine());
  ASSERT_EQ(found.amd_gpus.size(), 2U);
  EXPECT_EQ(found.amd_gpus[0].target, "gfx942");
  EXPECT_EQ(found.amd_gpus[0].compute_units, 304);
  EXPECT_EQ(found.amd_gpus[1].target, "gfx90a");
  EXPECT_EQ(found.rocm_version, "6.4.1");
  EXPECT_EQ(capability(found, Part::kRecord).obstacles, Obstacles{Obstacle::kOnlyAmd});
  EXPECT_EQ(capability(found, Part::kRocprof).obstacles, Obstacles{Obstacle::kNoRocprof});
  fake.program("/opt/rocm/bin/rocprofv3", "echo version: 1.0.0");
  EXPECT_EQ(capability(examine(fake.machine()), Part::kRocprof).verdict, CanDo::kYes);
}

TEST(Doctor, GpusOnThePciBus) {
  FakeMachine fake;
  const std::string devices = "/sys/bus/pci/devices/";
  fake.put(devices + "0000:01:00.0/class", "0x030000\n")
      .put(devices + "0000:01:00.0/vendor", "0x10de\n")
      .put(devices + "0000:01:00.0/current_link_speed", "16.0 GT/s PCIe\n")
      .put(devices + "0000:01:00.0/current_link_width", "8\n")
      .put(devices + "0000:01:00.1/class", "0x040300\n")  // the GPU's sound device
      .put(devices + "0000:01:00.1/vendor", "0x10de\n")
      .put(devices + "0000:02:00.0/class", "0x030000\n")  // a server's VGA chip
      .put(devices + "0000:02:00.0/vendor", "0x1a03\n");
  const Environment found = examine(fake.machine());
  ASSERT_EQ(found.pci_gpus.size(), 1U);
  EXPECT_EQ(found.pci_gpus[0].link.generation, 4);
  EXPECT_EQ(found.pci_gpus[0].link.width, 8);
  EXPECT_TRUE(has_text(doctor_text(found, false), "sudo modprobe nvidia"));
}

TEST(Doctor, Containers) {
  const auto kind = [](const std::string& file, std::string_view text) {
    FakeMachine fake;
    return examine(fake.put(file, text).machine()).container;
  };
  EXPECT_EQ(kind("/etc/hostname", "x"), ContainerKind::kNone);
  EXPECT_EQ(kind("/.dockerenv", ""), ContainerKind::kDocker);
  EXPECT_EQ(kind("/run/.containerenv", ""), ContainerKind::kPodman);
  EXPECT_EQ(kind("/proc/1/cgroup", "0::/kubepods/burstable/pod1"), ContainerKind::kKubernetes);
  EXPECT_EQ(kind("/proc/1/cgroup", "0::/init.scope"), ContainerKind::kNone);
}

TEST(Doctor, ProcessesThatHoldCounters) {
  FakeMachine fake;
  fake.put("/proc/77/comm", "nv-hostengine\n").put("/proc/78/comm", "nvidia-cuda-mps\n");
  const Environment found = examine(fake.machine());
  EXPECT_TRUE(found.dcgm);
  EXPECT_TRUE(found.mps);
  FakeMachine other;
  other.put("/proc/77/comm", "nv-hostengines\n").put("/proc/78/comm", "nvidia-persiste\n");
  EXPECT_FALSE(examine(other.machine()).dcgm);
  EXPECT_FALSE(examine(other.machine()).mps);
}

TEST(Doctor, AFifoInPlaceOfAFileIsNotWaitedFor) {
  FakeMachine fake;
  std::filesystem::create_directories(fake.machine().at("/proc/driver/nvidia"));
  ASSERT_EQ(mkfifo(fake.machine().at("/proc/driver/nvidia/version").c_str(), 0600), 0);
  EXPECT_EQ(examine(fake.machine()).nvidia_module, "");
}

TEST(Doctor, WhatTheMachineSaysIsInert) {
  Environment e;
  e.nvidia_gpus.emplace_back();
  e.nvidia_gpus[0].name = "GPU \x1b[2J | `x`";
  EXPECT_FALSE(has_text(doctor_text(e, false), "\x1b"));
  EXPECT_FALSE(has_text(doctor_json(e), "\x1b"));
  EXPECT_FALSE(has_text(environment_markdown(e), "\x1b"));
  EXPECT_TRUE(has_text(environment_markdown(e), "\\|")) << environment_markdown(e);
  EXPECT_FALSE(has_text(environment_markdown(e), " | `x`")) << environment_markdown(e);
}

TEST(Doctor, VersionsInTexts) {
  EXPECT_EQ(first_version("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue"),
            "550.54.15");
  EXPECT_EQ(first_version("Version 2025.3."), "2025.3");
  EXPECT_EQ(first_version("build 36273991"), "");
  EXPECT_EQ(first_version(""), "");
}

}  // namespace
}  // namespace fathom
