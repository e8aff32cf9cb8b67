#pragma once

#include <string>
#include <vector>

#include "base/table.h"
#include "scan/facts/kernel_identity.h"

namespace fathom {

// A kernel of the trace and where the scanned repository defines it.
struct KernelSource {
  std::string kernel;           // the profiler's name
  double micros = 0;            // all its runs
  std::vector<size_t> matches;  // in facts.kernels; several: the name does not tell them apart
};

struct KernelSources {
  const CodeFacts* facts = nullptr;
  std::vector<KernelSource> kernels;  // longest first, each name once
  double total_micros = 0, matched_micros = 0, ambiguous_micros = 0;
};

// Finds the kernels of the kernel_summary sheet in the scanned code.
KernelSources locate_kernels(const Table& kernel_summary, const CodeFacts& facts);

// "csrc/rows.cu:11"; several places with " or " between them; empty: none.
std::string source_text(const CodeFacts& facts, const std::vector<size_t>& matches);
// "gather, vector_access 16 bytes": what the code is known to do.
std::string code_facts_text(const KernelFacts& kernel);

// Adds the columns "Source" and "Code facts"; unknown where the kernel is not the repository's.
void add_source_columns(Table& kernel_summary, const KernelSources& sources);

}  // namespace fathom
