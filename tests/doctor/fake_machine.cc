#include "doctor/fake_machine.h"

namespace fathom::test {

namespace fs = std::filesystem;

FakeMachine::FakeMachine() {
  machine_.root = directory_.path();
  machine_.patience = std::chrono::milliseconds(10000);
  put("/proc/self/status", "Name:\tfathom\nCapEff:\t0000000000000000\n");
  put("/proc/self/uid_map", "         0          0 4294967295\n");
  set("PATH", "/usr/bin");
}

FakeMachine& FakeMachine::put(const std::string& path, std::string_view text) {
  write_file(machine_.at(path), text);
  return *this;
}

FakeMachine& FakeMachine::library(const std::string& path) {
  fs::create_directories(machine_.at(path).parent_path());
  fs::copy_file(fake_driver(), machine_.at(path), fs::copy_options::overwrite_existing);
  return *this;
}

FakeMachine& FakeMachine::program(const std::string& path, std::string_view script) {
  put(path, "#!/bin/sh\n" + std::string(script) + "\n");
  fs::permissions(machine_.at(path), fs::perms::owner_all);
  return *this;
}

FakeMachine& FakeMachine::set(const std::string& variable, const std::string& value) {
  machine_.variables[variable] = value;
  return *this;
}

FakeMachine& FakeMachine::with_h200() {
  put("/sys/bus/pci/devices/0000:19:00.0/class", "0x030200\n");
  put("/sys/bus/pci/devices/0000:19:00.0/vendor", "0x10de\n");
  put("/proc/driver/nvidia/version",
      "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build\n"
      "GCC version:  gcc version 12.3.0 (Ubuntu)\n");
  put("/proc/driver/nvidia/params",
      "RmLogonRC: 1\nRmProfilingAdminOnly: 0\nRegistryDwords: \"\"\n");
  for (const char* name : {"nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm"})
    put(std::string("/dev/") + name, "");
  library("/usr/lib/x86_64-linux-gnu/libcuda.so.1");
  library("/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1");
  library("/usr/local/cuda-13.0/extras/CUPTI/lib64/libcupti.so.13");
  return program("/usr/bin/ncu", "echo NVIDIA Nsight Compute; echo Version 2025.3.0.0 build 3");
}

}  // namespace fathom::test
