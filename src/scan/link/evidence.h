#pragma once

#include <string>

#include "scan/code_facts.h"
#include "scan/cpp/device_patterns.h"

namespace fathom {

// A pattern's hit in a file as evidence about the code; `function` is where its line stands.
inline CodeEvidence evidence_of(const cpp::PatternHit& hit, uint32_t file, std::string function) {
  return {std::string(hit.id), hit.detail, {file, hit.line}, std::move(function), hit.certainty};
}

}  // namespace fathom
