#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

// The processes of this machine, by /proc.
namespace fathom {

struct ProcessFacts {
  int64_t parent = 0, group = 0;
  uint64_t start_ticks = 0;
};

// Of a process that runs; nothing where there is none, or where it is dead and was not waited for.
std::optional<ProcessFacts> process_facts(int64_t pid);
// Each process of the machine that runs.
void for_each_process(const std::function<void(int64_t pid, const ProcessFacts& facts)>& visit);

// When the process began, in clock ticks since boot; nothing where none of this id runs. With
// it, an id that is used again is told from the process that had it.
std::optional<uint64_t> process_start_ticks(int64_t pid);
// The running processes of a group whose leader began then; the leader itself may be gone.
std::vector<int64_t> processes_of_group(int64_t group, uint64_t since_ticks);
// Ticks and groups are of one boot of the machine. Empty where it is not known.
std::string boot_id();

}  // namespace fathom
