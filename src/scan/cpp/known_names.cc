#include "scan/cpp/cpp_file.h"
#include "scan/cpp/macros.h"

namespace fathom::cpp {

KnownNames known_names(const std::vector<const Definitions*>& files) {
  KnownNames known;
  std::vector<const Macro*> macros;
  for (const Definitions* file : files) {
    for (const Macro& macro : file->macros) {
      macros.push_back(&macro);
      if (!macro.parameters && macro.body.find("__device__") != std::string::npos) {
        known.device_words.insert(macro.name);
      }
    }
    for (const Function& function : file->functions) {
      if (function.kind == FunctionKind::kKernel) known.kernels.insert(function.name);
    }
  }
  const auto kernel_macros = macros_reaching(
      macros, [](const Macro& macro) { return macro.body.find("__global__") != std::string::npos; },
      {});
  for (const Macro* macro : macros) {
    if (kernel_macros.contains(macro->name)) known.kernel_macros.emplace(macro->name, *macro);
  }
  return known;
}

}  // namespace fathom::cpp
