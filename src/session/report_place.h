#pragma once

#include <filesystem>
#include <string>

#include "base/output_directory.h"
#include "base/result.h"

namespace fathom {

// An input as a report's manifest names it: its path from where the report lies, so that both can
// be moved together.
std::string subject_of(const std::string& input, const std::filesystem::path& report);

// Refuses a place inside a repository, which is not ours to write to.
Status check_outside(const std::string& repository, const std::filesystem::path& directory);

struct DefaultPlace {
  std::filesystem::path path;
  std::string why;  // it is not where it usually is; empty where it is
};
// The usual place of a report; where it cannot be written to, or lies in the repository, the same
// name in the current folder.
Result<DefaultPlace> writable_place(const std::filesystem::path& usual, const std::string& input,
                                    const std::string& repository = "");

}  // namespace fathom
