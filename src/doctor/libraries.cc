#include "doctor/libraries.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace fathom {
namespace {

namespace fs = std::filesystem;

// More folders than this are somebody's mistake, or an attempt.
constexpr size_t kMostFolders = 64;

const std::vector<std::string>& system_library_folders() {
  static const std::vector<std::string> folders = {
      "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64",           "/usr/lib",
      "/usr/lib/wsl/lib",          "/usr/local/nvidia/lib64",    "/usr/local/nvidia/lib"};
  return folders;
}

std::vector<std::string> folders_of_variable(const Machine& machine, std::string_view name) {
  std::vector<std::string> folders;
  const std::string value = machine.variable(name);
  for (size_t begin = 0; begin <= value.size() && folders.size() < kMostFolders;) {
    const size_t end = std::min(value.find(':', begin), value.size());
    // A relative folder depends on where one stands.
    if (end > begin && value[begin] == '/') folders.push_back(value.substr(begin, end - begin));
    begin = end + 1;
  }
  return folders;
}

void add_once(std::vector<std::string>& into, const std::string& text) {
  if (std::find(into.begin(), into.end(), text) == into.end()) into.push_back(text);
}

// /usr/local/cuda, then /usr/local/cuda-13.0 before cuda-12.8.
std::vector<std::string> toolkit_folders(const Machine& machine) {
  std::vector<std::string> folders;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"}) {
    if (const std::string home = machine.variable(name); home.starts_with('/'))
      add_once(folders, home);
  }
  std::vector<std::string> names = machine.list("/usr/local");
  std::erase_if(names, [](const std::string& name) { return !name.starts_with("cuda"); });
  const auto version = [](const std::string& name) {
    const size_t dash = name.find('-');
    return dash == std::string::npos ? 1e9 : std::strtod(name.c_str() + dash + 1, nullptr);
  };
  std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return version(a) > version(b);
  });
  for (const std::string& name : names) add_once(folders, "/usr/local/" + name);
  if (folders.size() > kMostFolders) folders.resize(kMostFolders);
  return folders;
}

// The site-packages of the Pythons that a user would start.
std::vector<std::string> python_package_folders(const Machine& machine) {
  std::vector<std::string> prefixes;
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const std::string prefix = machine.variable(name); prefix.starts_with('/'))
      add_once(prefixes, prefix);
  }
  for (const std::string& folder : folders_of_variable(machine, "PATH")) {
    if (machine.exists(folder + "/python3"))
      add_once(prefixes, fs::path(folder).parent_path().string());
  }
  for (const char* usual : {"/usr/local", "/usr", "/opt/conda"}) add_once(prefixes, usual);
  if (const std::string home = machine.variable("HOME"); home.starts_with('/'))
    add_once(prefixes, home + "/.local");
  std::vector<std::string> folders;
  for (const std::string& prefix : prefixes) {
    for (const std::string& version : machine.list(prefix + "/lib")) {
      if (!version.starts_with("python3")) continue;
      for (const char* packages : {"/site-packages", "/dist-packages"})
        add_once(folders, fmt::format("{}/lib/{}{}", prefix, version, packages));
    }
  }
  if (folders.size() > kMostFolders) folders.resize(kMostFolders);
  return folders;
}

// libcupti.so.13 before libcupti.so.12; links and files of the same version count once.
void add_cupti_in(const Machine& machine, const std::string& folder,
                  std::vector<std::string>& out) {
  constexpr std::string_view kName = "libcupti.so";
  std::vector<std::string> names = machine.list(folder);
  std::erase_if(names, [&](const std::string& name) { return !name.starts_with(kName); });
  const auto version = [&](const std::string& name) {
    return name.size() > kName.size() ? std::strtod(name.c_str() + kName.size() + 1, nullptr) : 0;
  };
  std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return version(a) > version(b);
  });
  for (const std::string& name : names) {
    if (out.size() < kMostFolders)
      add_once(out, machine.at(fmt::format("{}/{}", folder, name)).string());
  }
}

}  // namespace

std::vector<std::string> driver_library_candidates(const Machine& machine, std::string_view name) {
  std::vector<std::string> out;
  if (machine.is_this_one()) out.emplace_back(name);
  std::vector<std::string> folders = folders_of_variable(machine, "LD_LIBRARY_PATH");
  for (const std::string& folder : system_library_folders()) folders.push_back(folder);
  for (const std::string& folder : folders) {
    const std::string path = (folder + "/").append(name);
    if (machine.exists(path)) add_once(out, machine.at(path).string());
  }
  return out;
}

std::vector<std::string> cupti_candidates(const Machine& machine) {
  std::vector<std::string> out;
  for (const std::string& folder : folders_of_variable(machine, "LD_LIBRARY_PATH"))
    add_cupti_in(machine, folder, out);
  if (machine.is_this_one()) {
    for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"})
      add_once(out, name);
  }
  for (const std::string& toolkit : toolkit_folders(machine)) {
    for (const char* below : {"/extras/CUPTI/lib64", "/lib64", "/lib", "/targets/x86_64-linux/lib",
                              "/targets/sbsa-linux/lib"})
      add_cupti_in(machine, toolkit + below, out);
  }
  for (const std::string& packages : python_package_folders(machine)) {
    const std::string vendor = packages + "/nvidia";
    for (const std::string& part : machine.list(vendor))
      add_cupti_in(machine, (vendor + "/").append(part) + "/lib", out);
  }
  for (const std::string& folder : system_library_folders()) add_cupti_in(machine, folder, out);
  return out;
}

std::string find_program(const Machine& machine, std::string_view name,
                         const std::vector<std::string>& folders) {
  std::vector<std::string> all = folders_of_variable(machine, "PATH");
  all.insert(all.end(), folders.begin(), folders.end());
  for (const std::string& folder : all) {
    const std::string path = (folder + "/").append(name);
    std::error_code error;
    if (fs::is_regular_file(machine.at(path), error) && access(machine.at(path).c_str(), X_OK) == 0)
      return path;
  }
  return "";
}

}  // namespace fathom
