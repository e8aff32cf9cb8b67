#include "doctor/examine.h"

#include <algorithm>

#include "doctor/libraries.h"
#include "doctor/nvidia_libraries.h"
#include "doctor/system_facts.h"

namespace fathom {
namespace {

// The folders of the vendors' installers, the newest version first.
std::vector<std::string> tool_folders(const Machine& machine) {
  std::vector<std::string> folders = {"/usr/local/cuda/bin", "/opt/rocm/bin"};
  if (const std::string home = machine.variable("CUDA_HOME"); home.starts_with('/'))
    folders.insert(folders.begin(), home + "/bin");
  for (const char* tool : {"/opt/nvidia/nsight-compute", "/opt/nvidia/nsight-systems"}) {
    std::vector<std::string> versions = machine.list(tool);
    std::reverse(versions.begin(), versions.end());
    for (const std::string& version : versions) {
      const std::string folder = (std::string(tool) + "/").append(version);
      folders.push_back(folder);
      folders.push_back(folder + "/bin");
    }
  }
  return folders;
}

ToolFact find_tool(const Machine& machine, const char* name,
                   const std::vector<std::string>& folders) {
  ToolFact tool{name, find_program(machine, name, folders), ""};
  if (!tool.found() || !machine.may_run) return tool;
  const ChildAnswer answer =
      ask_program(machine.at(tool.path).string(), {"--version"}, machine.patience);
  if (answer.end == ChildAnswer::End::kDone) tool.version = first_version(answer.text);
  return tool;
}

}  // namespace

Environment examine(const Machine& machine) {
  Environment out;
  read_system(machine, out);
  read_pci_gpus(machine, out);
  read_nvidia_files(machine, out);
  ask_nvml(machine, out);
  ask_cuda(machine, out);
  ask_cupti(machine, out);
  read_amd_files(machine, out);
  const std::vector<std::string> folders = tool_folders(machine);
  for (const char* name : {"ncu", "nsys", "rocprofv3"})
    out.tools.push_back(find_tool(machine, name, folders));
  return out;
}

Environment examine_permissions(const Machine& machine) {
  Environment out;
  read_system(machine, out);
  read_nvidia_files(machine, out);
  return out;
}

}  // namespace fathom
