#pragma once

#include "base/progress.h"
#include "scan/files/repository.h"
#include "scan/link/readings.h"

namespace fathom {

// Reads every source file of the repository, in parallel; the number of threads changes nothing.
// A file that can't be read is noted, and as if it were empty.
Readings read_files(const Repository& repository, size_t threads, const ProgressCallback& progress,
                    std::vector<std::string>& notes);

}  // namespace fathom
