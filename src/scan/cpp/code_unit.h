#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scan/cpp/references.h"

namespace fathom::cpp {

enum class UnitKind : uint8_t { kKernel, kDevice, kHost, kAlias, kClass };

// A function, alias or class of the repository. What code does stands in all three: a kernel's copy
// instruction may be named by an alias of its class.
struct CodeUnit {
  UnitKind kind = UnitKind::kDevice;
  uint32_t file = 0;                // in the list of files given to CallGraph
  uint32_t index = 0;               // the caller's own: which function, alias or class of the file
  std::string name, scope;          // as Function has them
  std::string template_parameters;  // of the function or class itself
  uint32_t line = 0;
  std::vector<Reference> references;
};

// The scope of an alias inside a function: no other code sees it.
inline std::string local_scope(std::string_view scope, std::string_view function) {
  return std::string(scope) + (scope.empty() ? "" : "::") + std::string(function) + "{}";
}

}  // namespace fathom::cpp
