#pragma once

#include <cstdint>
#include <vector>

#include "scan/cpp/references.h"

namespace fathom::cpp {

enum class UnitKind : uint8_t { kFunction, kAlias, kClass };

// What a function, alias or class of a file uses. What code does stands in all three: a kernel's
// copy instruction may be named by an alias of its class.
struct CodeUnit {
  UnitKind kind = UnitKind::kFunction;
  uint32_t index = 0;  // in the file's definitions, of its kind
  uint32_t line = 0;
  std::vector<Reference> references;
};

}  // namespace fathom::cpp
