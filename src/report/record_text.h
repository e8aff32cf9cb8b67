#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

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

// For the terminal: what was recorded and the command to run next.
std::string record_text(const RecordResult& result, bool color);
std::string record_json(const RecordResult& result);

}  // namespace fathom
