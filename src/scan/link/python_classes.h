#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/text_parts.h"
#include "scan/index/python_names.h"
#include "scan/link/readings.h"

namespace fathom {

// Which class of Python inherits from which, and what its functions are given.
class PythonClasses {
 public:
  PythonClasses(const Readings& readings, const PythonNames& names);

  // The method of a class, in it or the nearest base that has it.
  std::optional<PythonRef> find_method(const PythonRef& of, std::string_view name) const;
  // The same method where classes that inherit define it anew.
  std::vector<PythonRef> overriding(const PythonRef& of, std::string_view method) const;
  // Without a body of its own.
  bool is_abstract(const PythonRef& ref) const;
  // The class around a method.
  std::optional<PythonRef> class_of(const PythonRef& ref) const;
  const std::vector<PythonRef>& bases_of(const PythonRef& of) const;
  // Visits the class and those that it inherits from in the order in which a method is looked for,
  // each once, since classes may inherit from one another. What the visit returns true for has its
  // own: the bases of it are not visited for its sake.
  template <typename Visit>
  void for_each_base(const PythonRef& of, Visit visit) const {
    constexpr size_t kMaxClasses = 64;
    std::vector<PythonRef> left = {of}, seen;
    while (!left.empty() && seen.size() < kMaxClasses) {
      const PythonRef at = left.back();
      left.pop_back();
      if (contains(seen, at)) continue;
      seen.push_back(at);
      if (visit(at)) continue;
      const std::vector<PythonRef>& bases = bases_of(at);
      left.insert(left.end(), bases.rbegin(), bases.rend());
    }
  }
  // Whether a class is the other one or inherits from it.
  bool inherits(const PythonRef& derived, const PythonRef& base) const;
  // The classes of the repository that an annotation names.
  std::vector<PythonRef> classes_in(std::string_view annotation, uint32_t file) const;
  // In the function's own body, in order of line.
  std::vector<python::ValueFlow> flows_in(const PythonRef& ref) const;
  // The file's flows to a target, as positions in its list, in order of line.
  const std::vector<uint32_t>& flows_to(std::string_view target, uint32_t file) const;

  const python::Function& function(const PythonRef& ref) const {
    return readings_.readings[ref.file].python.functions[ref.index];
  }
  const python::Class& type(const PythonRef& ref) const {
    return readings_.readings[ref.file].python.classes[ref.index];
  }

 private:
  // The method of a class that stands in the class itself.
  std::optional<PythonRef> own_method(const PythonRef& of, std::string_view name) const;
  void index_file(uint32_t file);
  void index_bases();

  const Readings& readings_;
  const PythonNames& names_;
  // By file and target.
  std::vector<std::unordered_map<std::string_view, std::vector<uint32_t>>> files_;
  std::map<PythonRef, std::vector<PythonRef>> derived_, bases_;
};

// @name or @module.name(…) above the function.
bool has_decorator(const python::Function& function, std::string_view name);

}  // namespace fathom
