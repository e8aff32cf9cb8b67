#pragma once

#include <filesystem>

#include "report/scan_report.h"
#include "scan/scan_repository.h"

namespace fathom {

// repos/llm.c/ → repos/llm.c.fathom-scan; "." → the folder's own name, beside it.
Result<std::filesystem::path> default_scan_directory(const std::string& repository);

// Refuses a report inside the repository, which is not ours to write to.
Status check_scan_directory(const std::string& repository, const std::filesystem::path& directory);

// What a scan's report depends on: the content of every file, the program, and what was asked for.
// A report that has the same stamp need not be made again.
uint64_t scan_stamp(const Repository& repository, const StoryContext& context,
                    const std::filesystem::path& directory);
// The screen of the report in the directory, where that has this stamp and all of its files; none:
// it is another's, or not whole.
std::optional<std::string> screen_of_same_scan(const std::filesystem::path& directory,
                                               uint64_t stamp);

struct WriteScanOptions {
  std::optional<uint64_t> stamp;    // kept in summary.txt for the next scan
  bool into_any_directory = false;  // else an existing one must be a report of ours
};
// Writes scan.json and the markdown files, whole or not at all, and notes where.
Status write_scan(ScanReport& report, const std::filesystem::path& directory,
                  const WriteScanOptions& options = {});

}  // namespace fathom
