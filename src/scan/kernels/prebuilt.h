#pragma once

#include <vector>

#include "scan/facts/code_facts.h"

namespace fathom {

// Files with GPU code that was compiled before, by their ending, the most first.
std::vector<PrebuiltCode> count_prebuilt(const std::vector<SourceFile>& files);

}  // namespace fathom
