#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "report/record_text.h"
#include "session/log_pattern.h"

namespace fathom {

struct RecordRequest {
  std::vector<std::string> command;
  std::vector<std::string> environment;  // "NAME=value", as the program would have it
  std::filesystem::path out;             // empty: named after the command, where nothing is yet
  bool force = false;                    // over a file that is no capture
  bool torch = false, python_stacks = false;
  bool graph_nodes = false, allocations = false, all_calls = false;
  std::vector<std::string> probes;
  std::vector<LogPattern> log_patterns;
  std::optional<int64_t> sampling_ns;   // ask the GPU's parts how busy they are, so often
  std::optional<uint32_t> pc_sampling;  // every 2^N cycles; 0: the default
  bool clocks = true;                   // clocks, power, temperature over time
  std::vector<std::string> counters;    // metrics; empty: none. The program is run a second time
  bool replay = false;        // count all metrics of a launch at once, by running it again
  bool use_ncu = false;       // Nsight Compute counts, in a second run
  std::filesystem::path ncu;  // its program; empty: not found
  std::string ncu_set;
  std::vector<std::string> notes;  // that are known before the run; the first of the result's
  bool discard_output = false;     // of the program, on standard output
  std::optional<int64_t> window_ms;
  std::optional<int64_t> before_ms;  // what happened so long before a trigger is kept too
  // Nothing is recorded until SIGUSR2 comes, or the file is there or touched.
  bool wait_for_signal = false;
  std::filesystem::path trigger_file;
  std::filesystem::path library;             // the recorder
  std::filesystem::path probe_library;       // of C functions; empty: not there
  std::vector<std::filesystem::path> cupti;  // libraries to try
};

// Runs the program and writes a capture for each of its processes that used the GPU. An error is
// ours: the program was not run, or its captures could not be written.
Result<RecordResult> record_program(const RecordRequest& request);

}  // namespace fathom
