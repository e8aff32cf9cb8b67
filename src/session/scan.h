#pragma once

#include <filesystem>

#include "base/output_directory.h"
#include "report/scan/scan_report.h"
#include "scan/scan_repository.h"

namespace fathom {

// repos/llm.c/ → repos/llm.c.fathom-scan; "." → the folder's own name, beside it.
Result<std::filesystem::path> default_scan_directory(const std::string& repository);

// What a scan's report depends on: the content of every file, the program, and what was asked for.
// A report that has the same stamp need not be made again.
uint64_t scan_stamp(const Repository& repository, const StoryContext& context,
                    const std::filesystem::path& directory);
// The screen of the report in the directory, where that has this stamp and every file of it is as
// it was written; none: it is another's, or not whole.
std::optional<std::string> screen_of_same_scan(const std::filesystem::path& directory,
                                               uint64_t stamp);

// Writes scan.json and the markdown files, whole or not at all, and notes where. The stamp is kept
// for the next scan. Returns what to tell the user about files that were in the way.
Result<std::vector<std::string>> write_scan(ScanReport& report, const OutputPlace& place,
                                            uint64_t stamp);

}  // namespace fathom
