#include "doctor/system_facts.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"

namespace fathom {
namespace {

constexpr int kSysAdmin = 21;  // CAP_SYS_ADMIN

std::optional<int> small_number(std::string_view text) {
  const auto value = whole_number(text);
  if (!value || *value != static_cast<int>(*value)) return std::nullopt;
  return static_cast<int>(*value);
}

ContainerKind container_of(const Machine& machine) {
  const auto has = [&](std::string_view path) { return machine.exists(path); };
  if (!machine.variable("KUBERNETES_SERVICE_HOST").empty() ||
      has("/var/run/secrets/kubernetes.io")) {
    return ContainerKind::kKubernetes;
  }
  if (has("/run/.containerenv")) return ContainerKind::kPodman;
  if (has("/.dockerenv")) return ContainerKind::kDocker;
  if (has("/.singularity.d")) return ContainerKind::kApptainer;
  const std::string groups = machine.read("/proc/1/cgroup").value_or("");
  const auto grouped = [&](std::string_view word) { return groups.find(word) != groups.npos; };
  if (grouped("kubepods")) return ContainerKind::kKubernetes;
  if (grouped("libpod")) return ContainerKind::kPodman;
  if (grouped("docker")) return ContainerKind::kDocker;
  if (grouped("containerd") || grouped("/lxc") || has("/run/systemd/container") ||
      !machine.variable("container").empty()) {
    return ContainerKind::kOther;
  }
  return ContainerKind::kNone;
}

// In a user namespace a process has all capabilities, and the driver respects none of them.
std::optional<bool> has_sys_admin(const Machine& machine) {
  const auto status = machine.read("/proc/self/status");
  const auto written = status ? line_value(*status, "CapEff") : std::nullopt;
  if (!written) return std::nullopt;
  uint64_t capabilities = 0;
  const auto [end, error] =
      std::from_chars(written->data(), written->data() + written->size(), capabilities, 16);
  if (error != std::errc()) return std::nullopt;
  if ((capabilities >> kSysAdmin & 1) == 0) return false;
  const auto map = machine.read("/proc/self/uid_map");
  if (!map) return true;
  unsigned long inside = 0, outside = 0, count = 0;
  if (std::sscanf(map->c_str(), "%lu %lu %lu", &inside, &outside, &count) != 3) return true;
  return inside == 0 && outside == 0 && count >= 4294967295UL;
}

// "16.0 GT/s PCIe" → 4.
std::optional<int> pcie_generation(const std::optional<std::string>& speed) {
  if (!speed) return std::nullopt;
  constexpr std::pair<std::string_view, int> kSpeeds[] = {{"2.5", 1},  {"5.0", 2},  {"8.0", 3},
                                                          {"16.0", 4}, {"32.0", 5}, {"64.0", 6}};
  for (const auto& [text, generation] : kSpeeds) {
    if (speed->starts_with(text)) return generation;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> line_value(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    if (line.find_first_of(" \t:=") != 0) continue;  // a longer key
    const size_t first = line.find_first_not_of(" \t:=");
    if (first == std::string_view::npos) return std::string();
    line = line.substr(first, line.find_last_not_of(" \t\r\"") + 1 - first);
    if (line.starts_with('"')) line.remove_prefix(1);
    return std::string(line);
  }
  return std::nullopt;
}

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end != text.data() ? std::optional(value) : std::nullopt;
}

std::string first_version(std::string_view text) {
  for (size_t at = 0; at < text.size(); ++at) {
    if (!is_digit(text[at]) || (at > 0 && (is_digit(text[at - 1]) || text[at - 1] == '.')))
      continue;
    size_t end = at;
    bool dotted = false;
    while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) {
      dotted |= text[end] == '.' && end + 1 < text.size() && is_digit(text[end + 1]);
      ++end;
    }
    while (end > at && text[end - 1] == '.') --end;
    if (dotted) return std::string(text.substr(at, end - at));
    at = end;
  }
  return "";
}

void read_system(const Machine& machine, Environment& out) {
  out.kernel = machine.read("/proc/sys/kernel/osrelease").value_or("");
  const std::string release = machine.read("/etc/os-release").value_or("");
  out.distribution = line_value(release, "PRETTY_NAME").value_or("");
  out.wsl = out.kernel.find("icrosoft") != std::string::npos;
  out.container = container_of(machine);
  out.sys_admin = has_sys_admin(machine);
  if (const auto paranoid = machine.read("/proc/sys/kernel/perf_event_paranoid"))
    out.perf_event_paranoid = small_number(*paranoid);
}

void read_pci_gpus(const Machine& machine, Environment& out) {
  const std::string devices = "/sys/bus/pci/devices/";
  for (const std::string& address : machine.list(devices)) {
    const std::string folder = devices + address + "/";
    // 0x03: display controllers, 3D controllers among them. 0x1200: accelerators, as AMD's.
    const std::string kind = machine.read(folder + "class").value_or("");
    if (!kind.starts_with("0x03") && !kind.starts_with("0x1200")) continue;
    const std::string vendor = machine.read(folder + "vendor").value_or("");
    PciGpu gpu;
    gpu.address = address;
    if (vendor == "0x10de") gpu.vendor = PciVendor::kNvidia;
    if (vendor == "0x1002") gpu.vendor = PciVendor::kAmd;
    std::error_code error;
    const auto driver = std::filesystem::read_symlink(machine.at(folder + "driver"), error);
    if (!error) gpu.driver = driver.filename().string();
    gpu.link.generation = pcie_generation(machine.read(folder + "current_link_speed"));
    gpu.link.max_generation = pcie_generation(machine.read(folder + "max_link_speed"));
    const auto width = [&](const char* file) -> std::optional<int> {
      const auto text = machine.read(folder + file);
      return text ? small_number(*text) : std::nullopt;
    };
    gpu.link.width = width("current_link_width");
    gpu.link.max_width = width("max_link_width");
    if (gpu.vendor != PciVendor::kOther) out.pci_gpus.push_back(std::move(gpu));
  }
}

}  // namespace fathom
