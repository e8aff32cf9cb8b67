#pragma once

#include <filesystem>
#include <vector>

#include "scan/facts/code_facts.h"

namespace fathom {

// Fills in size, lines, language, whether a program wrote it, and why its content is no source,
// for each file whose path is there.
void measure_files(const std::filesystem::path& root, std::vector<SourceFile>& files,
                   size_t threads);

}  // namespace fathom
