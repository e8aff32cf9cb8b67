#pragma once

#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scan/index/function_places.h"
#include "scan/link/readings.h"

namespace fathom {

// What a launch of a Python kernel fills the kernel's parameters with.
class PythonLaunchValues {
 public:
  PythonLaunchValues(const Readings& readings, const FunctionPlaces& places)
      : readings_(readings), places_(places) {}

  // By position or by name, and what the names in them and in the grid were last set to.
  void add_arguments(const python::Launch& launch, const python::Function& kernel,
                     KernelLauncher& launcher) const;

 private:
  using ValuesByName =
      std::unordered_map<std::string_view, std::vector<const python::AssignedValue*>>;

  void add_values(const python::Launch& launch, KernelLauncher& launcher) const;
  const python::AssignedValue* last_value(uint32_t file, const std::string& name,
                                          uint32_t line) const;
  bool is_seen_from(uint32_t file, uint32_t value_line, uint32_t line) const;

  const Readings& readings_;
  const FunctionPlaces& places_;
  mutable std::map<uint32_t, ValuesByName> values_;  // of files that launch something
};

}  // namespace fathom
