#include "trial/processes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace fathom {

std::optional<ProcessFacts> process_facts(int64_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  if (pid <= 0 || !std::getline(file, line)) return std::nullopt;
  // The name in brackets may hold anything. After it: the state, parent, group; the 22nd field is
  // the time.
  size_t at = line.rfind(')');
  if (at == std::string::npos || at + 2 >= line.size()) return std::nullopt;
  // Dead, but nobody asked how it ended: a container's first process may never do.
  if (line[at + 2] == 'Z' || line[at + 2] == 'X') return std::nullopt;
  ProcessFacts facts;
  for (int field = 2; field < 22 && at != std::string::npos; ++field) {
    at = line.find(' ', at + 1);
    if (at == std::string::npos) return std::nullopt;
    if (field == 3) facts.parent = std::strtoll(line.c_str() + at, nullptr, 10);
    if (field == 4) facts.group = std::strtoll(line.c_str() + at, nullptr, 10);
  }
  facts.start_ticks = std::strtoull(line.c_str() + at, nullptr, 10);
  return facts;
}

void for_each_process(const std::function<void(int64_t pid, const ProcessFacts& facts)>& visit) {
  std::error_code error;
  std::filesystem::directory_iterator at("/proc", error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const int64_t pid = std::strtoll(name.c_str(), nullptr, 10);
    if (const auto facts = process_facts(pid)) visit(pid, *facts);
  }
}

std::optional<uint64_t> process_start_ticks(int64_t pid) {
  const auto facts = process_facts(pid);
  return facts ? std::optional(facts->start_ticks) : std::nullopt;
}

std::vector<int64_t> processes_of_group(int64_t group, uint64_t since_ticks) {
  std::vector<int64_t> pids;
  // The leader's number is used again only after the last of its group is gone.
  const auto leader = process_facts(group);
  if (group <= 1 || (leader && leader->start_ticks != since_ticks)) return pids;
  for_each_process([&](int64_t pid, const ProcessFacts& facts) {
    if (facts.group == group && facts.start_ticks >= since_ticks) pids.push_back(pid);
  });
  std::ranges::sort(pids);
  return pids;
}

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace fathom
