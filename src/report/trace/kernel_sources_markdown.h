#pragma once

#include <string>

#include "measure/kernel_measures.h"
#include "scan/facts/code_facts.h"

namespace fathom {

// kernel_sources.md: the kernels of a trace where the scanned repository defines them, with what
// the code says of each; what is not the repository's is named with its time.
std::string kernel_sources_markdown(const CodeFacts& facts, const CodeCoverage& coverage);

}  // namespace fathom
