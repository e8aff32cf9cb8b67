#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scan/link/jit_modules.h"
#include "scan/link/python_classes.h"
#include "scan/link/python_tables.h"
#include "scan/link/python_value.h"

namespace fathom {

// Says what names, attributes and calls mean in the function that they stand in: by imports,
// constructor assignments, annotations, return types, registries and inheritance. Nothing is run;
// where several answers fit, it gives all of them.
class PythonTypes {
 public:
  PythonTypes(const Readings& readings, const PythonNames& names, const JitModules& jit);

  // The expression as written in the function; kPythonModuleLevel: outside any.
  PythonValues evaluate(std::string_view expression, uint32_t file, uint32_t function) const {
    return evaluate(expression, file, function, 0);
  }
  const PythonClasses& classes() const { return classes_; }
  const PythonNames& names() const { return names_; }
  const JitModules& jit() const { return jit_; }
  // The function itself or one around it that builds a C++ module.
  std::optional<PythonRef> builder_around(const PythonRef& ref) const;

 private:
  // Recursion ends here: what needs more steps is unknown.
  static constexpr int kMaxDepth = 7;

  PythonValues evaluate(std::string_view expression, uint32_t file, uint32_t function,
                        int depth) const;
  PythonValues evaluate_uncached(std::string_view expression, uint32_t file, uint32_t function,
                                 int depth) const;
  PythonValues head(std::string_view name, uint32_t file, uint32_t function, int depth) const;
  bool is_bound_in(std::string_view name, const PythonRef& function) const;
  PythonValues local(std::string_view name, uint32_t file, uint32_t index, int depth) const;
  PythonValues elements(std::string_view expression, uint32_t file, uint32_t function,
                        int depth) const;
  PythonValues module_name(std::string_view name, uint32_t file, int depth) const;
  PythonValues application_state(std::string_view name, int depth) const;
  PythonValues attribute(const PythonValue& of, std::string_view name, int depth) const;
  PythonValues instance_attribute(const PythonValue& of, std::string_view name, int depth) const;
  PythonValues assigned_attribute(const PythonRef& of, std::string_view name, int depth) const;
  const std::vector<uint32_t>& member_flows(const PythonRef& of, std::string target) const;
  PythonValues assigned_in_class(const PythonRef& of, std::string_view name, int depth) const;
  PythonValues called(const PythonValue& of, int depth) const;
  PythonValues returned(const PythonRef& ref, int depth) const;
  PythonValues member_of_scope(const PythonRef& ref, std::string_view name, int depth) const;
  PythonValues built_by(const PythonRef& ref, int depth) const;
  PythonValues of_torch(const PythonValue& of, std::string_view name) const;
  PythonValues of_built(const PythonValue& module, std::string_view member) const;
  PythonValues annotated(std::string_view annotation, uint32_t file) const;

  const Readings& readings_;
  const PythonNames& names_;
  const JitModules& jit_;
  const PythonClasses classes_;
  const PythonTables tables_;
  mutable std::map<std::tuple<uint32_t, uint32_t, std::string>, PythonValues> evaluated_;
  // By name, file and flow.
  mutable std::optional<
      std::map<std::string, std::vector<std::pair<uint32_t, uint32_t>>, std::less<>>>
      state_flows_;
  // By file: of each class and member.
  mutable std::map<uint32_t, std::map<std::pair<PythonRef, std::string>, std::vector<uint32_t>>>
      member_flows_;
};

}  // namespace fathom
