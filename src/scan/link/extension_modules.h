#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scan/link/readings.h"

namespace fathom {

// Which Python module the bindings of a C++ file are built into: by PYBIND11_MODULE(name, m), or by
// the CUDAExtension(name=…, sources=[…]) of a setup.py. What is compiled when the program runs is
// handed around as an object, and has no name to import.
class ExtensionModules {
 public:
  explicit ExtensionModules(const Readings& readings);

  // Their last names ("_C" of "pkg._C"); empty: not known.
  const std::vector<std::string>& of(uint32_t cpp_file) const;
  // Whether a setup.py builds a module of this last name.
  bool builds(std::string_view module) const { return built_.contains(module); }
  // The sources that are built together with it, itself within; empty: not known.
  const std::vector<uint32_t>& sources_with(uint32_t cpp_file) const;
  // Whether a name of a Python file was imported as one of the file's modules.
  bool is_imported_as(std::string_view name, uint32_t python_file, uint32_t cpp_file) const;

 private:
  void read_extension(const python::Call& call, uint32_t file);
  void add(uint32_t cpp_file, std::string_view module);

  const Readings& readings_;
  std::map<std::string, std::vector<uint32_t>, std::less<>> files_by_name_;  // C++, by file name
  std::map<uint32_t, std::vector<std::string>> modules_;
  std::set<std::string, std::less<>> built_;
  std::map<uint32_t, std::vector<uint32_t>> sources_;  // by file with bindings, in order of file
};

}  // namespace fathom
