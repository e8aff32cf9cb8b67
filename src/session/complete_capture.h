#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/time_windows.h"

namespace fathom {

// A number that was read from the program's output.
struct LoggedNumber {
  int64_t time_ns = 0;
  double value = 0;
  std::string name;
};

// What the recorder and the hook in Python left of one process. An empty path: nothing.
struct ProcessRecords {
  int64_t pid = 0;
  std::filesystem::path capture, torch_trace, probes;
  std::vector<std::filesystem::path> native_calls;  // of C functions
  std::vector<std::string> native_probes;           // as they were asked for
  std::filesystem::path counters;  // the capture of the same process in a run with counters
};

// Finds the processes in the directory that was recorded into, in the order of their beginning.
std::vector<ProcessRecords> find_processes(const std::filesystem::path& directory);

// Writes one compressed capture of all that is known of a process. Calls of probes count as far as
// they are in the windows; the recorder heeds these itself.
Status complete_capture(const ProcessRecords& process, const std::vector<LoggedNumber>& logged,
                        const TimeWindows& windows, const std::string& command,
                        const std::filesystem::path& out);

// The probes that found their function in any process: lines "P\tPROBE" of the hook's files.
std::vector<std::string> placed_probes(const std::vector<ProcessRecords>& processes);

}  // namespace fathom
