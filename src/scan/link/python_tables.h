#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scan/link/python_classes.h"
#include "scan/link/python_value.h"

namespace fathom {

// Registries: names of module level that functions and classes are registered with, by
// @TABLE.register("x") above them, TABLE = {"x": f} or TABLE["x"] = f.
class PythonTables {
 public:
  PythonTables(const Readings& readings, const PythonNames& names, const PythonClasses& classes);

  std::optional<uint32_t> find(uint32_t file, std::string_view name) const;
  // All that is registered: which of them is meant is likely, not certain.
  PythonValues registered(uint32_t table) const;

 private:
  PythonValues& table(uint32_t file, const std::string& name);
  // The file of a table; none: a module outside the repository has it, as torch in
  // @torch.library.register_fake.
  std::optional<uint32_t> home_of(std::string_view name, uint32_t file) const;
  void add_decorated(uint32_t file, const std::vector<std::string>& decorators,
                     const PythonValue& value);
  void add_entries(uint32_t file);

  const Readings& readings_;
  const PythonNames& names_;
  const PythonClasses& classes_;
  std::map<std::pair<uint32_t, std::string>, uint32_t> ids_;
  std::vector<PythonValues> values_;
  std::vector<std::string> table_names_;
};

}  // namespace fathom
