#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "report/record_text.h"
#include "session/complete_capture.h"

namespace fathom {

// Runs the program under Nsight Compute and puts what it measured beside the records of each
// process.
struct NcuRequest {
  std::filesystem::path ncu;  // the program; empty: not found
  std::vector<std::string> command, environment;
  std::string set;  // basic, memory, stalls, roofline, full
};
Status count_with_ncu(const NcuRequest& request, const std::filesystem::path& directory,
                      std::vector<ProcessRecords>& processes, RecordResult& result);

// The launches of a capture that ncu is told to measure: names as the compiler writes them, and
// which of a name's launches, counted from 1.
struct NcuSelection {
  std::vector<std::string> names;
  std::vector<int64_t> invocations;
};
Result<NcuSelection> select_for_ncu(const std::filesystem::path& capture);

// The arguments of ncu, without the command of the program.
std::vector<std::string> ncu_arguments(const NcuSelection& selection, const std::string& set,
                                       const std::filesystem::path& log);

}  // namespace fathom
