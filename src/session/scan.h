#pragma once

#include <filesystem>

#include "report/scan_report.h"
#include "scan/scan_repository.h"

namespace fathom {

// repos/llm.c/ → repos/llm.c.fathom-scan; "." → the folder's own name, beside it.
Result<std::filesystem::path> default_scan_directory(const std::string& repository);

// Refuses a report inside the repository, which is not ours to write to.
Status check_scan_directory(const std::string& repository, const std::filesystem::path& directory);

struct WriteScanOptions {
  bool into_any_directory = false;  // else an existing one must be a report of ours
};
// Writes scan.json and the markdown files, whole or not at all, and notes where.
Status write_scan(ScanReport& report, const std::filesystem::path& directory,
                  const WriteScanOptions& options = {});

}  // namespace fathom
