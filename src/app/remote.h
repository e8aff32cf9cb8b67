#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/output_directory.h"
#include "base/result.h"

namespace fathom {

// Where a command runs instead of here: another host (ssh), a container (docker exec), or a
// container on another host. The names are given to those programs as they are.
struct RemotePlace {
  std::string host, container;

  bool is_here() const { return host.empty() && container.empty(); }
};

// Runs `fathom WORDS…` there with its output here. The exit code, or why it could not be run.
Result<int> run_there(const RemotePlace& place, const std::vector<std::string>& words);

// Brings a directory from there, whole or not at all, and removes it there. Returns what to tell
// the user about files that were in the way.
Result<std::vector<std::string>> fetch_report(const RemotePlace& place, const std::string& remote,
                                              const OutputPlace& local);

// A name for a directory there that nobody else uses.
std::string remote_report_directory();

}  // namespace fathom
