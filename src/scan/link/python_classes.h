#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scan/link/python_names.h"

namespace fathom {

// The functions and classes of the Python files by name, and which class inherits from which.
class PythonClasses {
 public:
  PythonClasses(const Readings& readings, const PythonNames& names);

  // What a dotted name means in a file: PythonNames' answer, kept.
  std::optional<PythonName> resolve(std::string_view name, uint32_t file) const;
  // By "scope.name".
  std::optional<PythonRef> find_function(uint32_t file, const std::string& qualified) const;
  // The method of a class, in it or the nearest base that has it.
  std::optional<PythonRef> find_method(const PythonRef& of, std::string_view name) const;
  // The same method where classes that inherit define it anew.
  std::vector<PythonRef> overriding(const PythonRef& of, std::string_view method) const;
  // Without a body of its own.
  bool is_abstract(const PythonRef& ref) const;
  // The class around a method.
  std::optional<PythonRef> class_of(const PythonRef& ref) const;
  std::vector<PythonRef> bases_of(const PythonRef& of) const;
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
  struct FileIndex {
    std::unordered_map<std::string_view, std::vector<uint32_t>> flows;
    std::unordered_map<std::string, uint32_t> functions, classes;  // by "scope.name"
  };

  void index_file(uint32_t file);
  void index_bases();

  const Readings& readings_;
  const PythonNames& names_;
  std::vector<FileIndex> files_;
  std::map<PythonRef, std::vector<PythonRef>> derived_, bases_;
  mutable std::vector<std::unordered_map<std::string, std::optional<PythonName>>> resolved_;
};

std::string qualified_name(const python::Function& function);
// @name or @module.name(…) above the function.
bool has_decorator(const python::Function& function, std::string_view name);

}  // namespace fathom
