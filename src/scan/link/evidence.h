#pragma once

#include <string>
#include <vector>

#include "scan/index/class_tree.h"
#include "scan/index/kernel_graph.h"
#include "scan/link/readings.h"

namespace fathom {

// A pattern's hit in a file as evidence about the code; `function` is where its line stands.
inline CodeEvidence evidence_of(const cpp::PatternHit& hit, uint32_t file, std::string function) {
  return {std::string(hit.id), hit.detail,  {file, hit.line}, std::move(function),
          hit.certainty,       hit.subject, hit.bytes};
}

// What each C++ kernel does, from all the device code that it reaches across files; and the calls
// of that code, of launchers and of host functions with evidence of their own.
void link_evidence(const Readings& readings, const SymbolIndex& index, const ClassTree& classes,
                   const FunctionPlaces& places, Kernels& kernels,
                   std::vector<FunctionCall>& calls);

}  // namespace fathom
