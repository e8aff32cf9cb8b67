#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "doctor/environment.h"

namespace fathom {

struct CaptureSummary {
  std::filesystem::path path;
  int64_t pid = 0;
  int64_t kernels = 0, copies = 0, launches = 0, ops = 0, ranges = 0, lost = 0, bytes = 0;
  Nanos covered, busy;  // from the first event to the last; GPU work in it
};

struct RecordResult {
  std::optional<std::string> not_started;  // why
  bool not_found = false;
  int status = 0;  // as waitpid gives it
  Nanos wall;
  std::vector<CaptureSummary> captures;
  std::vector<std::string> notes;
};

// How hardware counters were asked for.
struct CountersAsked {
  bool by_cupti = false, by_ncu = false;
  bool has_ncu = false;  // its program was found
};
// What keeps them from being counted, each with its fix: for the user before the program runs.
std::vector<std::string> counter_notes(const CountersAsked& asked, const Environment& environment);

// For the terminal: what was recorded and the command to run next.
std::string record_text(const RecordResult& result, bool color);
std::string record_json(const RecordResult& result);

}  // namespace fathom
