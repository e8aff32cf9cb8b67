#pragma once

#include <filesystem>

#include "base/progress.h"
#include "base/result.h"
#include "scan/facts/code_facts.h"
#include "scan/files/repository.h"

namespace fathom {

struct ScanOptions {
  size_t threads = 0;  // 0: as many as the machine has; their number changes nothing
  ProgressCallback progress;
};

// Everything that can be known of a repository by reading it. No code of it is executed, and
// nothing is written.
Result<CodeFacts> scan_repository(const std::filesystem::path& root,
                                  const ScanOptions& options = {});
CodeFacts scan_repository(const Repository& repository, const ScanOptions& options = {});

}  // namespace fathom
