#include "scan/link/device_kernels.h"

#include <set>

#include "scan/facts/code_names.h"

namespace fathom {
std::vector<std::pair<SymbolId, KernelFacts>> device_kernel_classes(const Readings& readings,
                                                                    const SymbolIndex& index) {
  std::set<std::string_view> launched;
  for (const FileReading& reading : readings.readings) {
    for (const cpp::Launch& launch : reading.usage.launches) {
      if (!launch.device_kernel) continue;
      for (const std::string& name : launch.kernels) launched.insert(last_name(name));
    }
  }
  std::vector<std::pair<SymbolId, KernelFacts>> out;
  for (uint32_t file = 0; file < readings.files.size(); ++file) {
    const std::vector<cpp::Class>& classes = readings.readings[file].cpp.classes;
    for (uint32_t i = 0; i < classes.size(); ++i) {
      const cpp::Class& type = classes[i];
      if (!launched.contains(type.name)) continue;
      KernelFacts kernel;
      kernel.name = type.name;
      kernel.scope = type.scope;
      kernel.kind = KernelKind::kDeviceKernel;
      kernel.at = {file, type.line_first};
      kernel.line_name = type.line_name;
      kernel.line_last = type.line_last;
      kernel.template_parameters = type.template_parameters;
      out.emplace_back(index.type(file, i), std::move(kernel));
    }
  }
  return out;
}

}  // namespace fathom
