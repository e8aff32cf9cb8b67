#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scan/index/python_names.h"
#include "scan/link/readings.h"

namespace fathom {

// A C++ function under a name of Python, and the file that says so.
struct BoundFunction {
  const cpp::Binding* binding;
  uint32_t file;
  CodePlace at() const { return {file, binding->line}; }
};

// Modules of C++ that are compiled when the program runs: a Python function names their sources in
// literals, and returns the module or an object whose method builds it. Many such modules export
// one name, as `run`; which is meant is told by the function that the module comes from.
class JitModules {
 public:
  explicit JitModules(const Readings& readings);

  // Whether the function names sources of the repository that export something.
  bool builds(const PythonRef& function) const { return sources_.contains(function); }
  // The sources and templates that it names, in order of file.
  const std::vector<uint32_t>& sources_of(const PythonRef& function) const;
  // What the module that it builds exports by this name.
  std::vector<BoundFunction> exported(const PythonRef& function, std::string_view name) const;
  // Whether a function of this name may return what one of them builds: it returns what one makes.
  bool may_hand_on(std::string_view function) const { return handing_on_.contains(function); }
  // The functions that name a file, in order.
  std::vector<PythonRef> builders_of(uint32_t cpp_file) const;
  // In how many files a name is exported.
  size_t files_exporting(std::string_view name) const;

 private:
  void read_python(uint32_t file);
  std::vector<uint32_t> files_named(std::string_view literal) const;
  void find_handing_on();

  const Readings& readings_;
  std::map<std::string_view, std::vector<uint32_t>> files_by_name_;
  std::unordered_map<std::string_view, size_t> files_exporting_;
  std::map<PythonRef, std::vector<uint32_t>> sources_;
  std::map<uint32_t, std::vector<PythonRef>> builders_;
  std::set<std::string_view> handing_on_;
};

}  // namespace fathom
