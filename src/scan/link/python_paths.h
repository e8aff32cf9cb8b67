#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "scan/link/cpp_receivers.h"
#include "scan/link/extension_modules.h"
#include "scan/link/python_ops.h"
#include "scan/link/python_types.h"

namespace fathom {

// Finds the way from the Python API down to a function of the GPU's host side: Python callers, the
// binding or the JIT generator that names the C++ function, C++ callers. Calls are matched by name,
// so every hop says how sure it is; where the way can't be followed it ends.
class PythonPaths {
 public:
  PythonPaths(const Readings& readings, const SymbolIndex& index, const PythonNames& names,
              const PythonTypes& types);

  // The hops from outermost to the function that launches, or empty where it is not found.
  std::vector<PathHop> to_cpp_function(uint32_t file, std::string_view name) const;
  std::vector<PathHop> to_python_function(uint32_t file, std::string_view name) const;
  // Who calls the function that a path begins with, tests left out: the lines that call.
  std::vector<PathHop> callers_of(const PathHop& outermost) const;
  // The calls on the way further up from such a line, the nearest first, while each function has
  // one caller alone.
  std::vector<PathHop> way_up_from(const PathHop& caller) const;

 private:
  struct FunctionRef {
    uint32_t file;
    size_t function;
    friend auto operator<=>(const FunctionRef&, const FunctionRef&) = default;
  };
  // A name under which Python sees a C++ function.
  struct Exported {
    std::string name, target, via;
    CodePlace at;
    bool from_python;  // a JIT generator, which writes the binding itself
    std::string function;
  };

  // A function and how it writes the name of what it calls.
  struct CppCaller {
    FunctionRef function;
    const cpp::Call* call;  // the first that is written so
  };

  void index_cpp(uint32_t file);
  // Whether a caller's name can mean the function, and how sure that is.
  std::optional<Certainty> can_call(const CppCaller& caller, const FunctionRef& callee) const;
  std::optional<Certainty> means(std::string_view written, const NameScope& at,
                                 const FunctionRef& callee) const;
  void index_python(uint32_t file);
  void index_aliases(uint32_t file);
  void index_holders();
  bool is_foreign(uint32_t file, std::string_view name) const;
  bool is_method(const cpp::Function& function) const;
  void resolve_exports();
  const Exported* exported_as(const FunctionRef& ref) const;  // none: null
  struct ChainLink {
    FunctionRef function;
    Certainty certainty;  // of the call that leads to it
  };
  std::vector<ChainLink> cpp_chain_to_export(const FunctionRef& start,
                                             const Exported*& exported) const;
  std::vector<FunctionRef> possible_users(const Exported& exported,
                                          const std::vector<FunctionRef>& callers) const;
  std::optional<FunctionRef> python_user(const Exported& exported, Certainty& certainty) const;
  // Who calls it, and who hands it on: apply(module.f, …), self.f = module.f.
  std::optional<FunctionRef> python_caller_of(const Exported& exported, Certainty& certainty) const;
  std::optional<FunctionRef> python_holder_of(const Exported& exported, Certainty& certainty) const;
  // What a name is looked for in: a method of the object itself is no function of a module.
  enum class Of : uint8_t { kModule, kAnything };
  bool calls_object(const FunctionRef& ref, std::string_view name, Of of) const;
  // Whether a function calls what a binding exports, of the module that it is built into.
  bool calls_export(const FunctionRef& ref, const Exported& exported) const;
  // Whether a function calls the export through an object of the module that is compiled from it
  // when the program runs; none: the code does not show whose object it is.
  std::optional<bool> calls_built(const FunctionRef& ref, const Exported& exported) const;
  std::string library_alias(const FunctionRef& ref, std::string_view callee) const;
  std::set<uint32_t> files_that_build(uint32_t cpp_file) const;
  std::vector<PathHop> python_chain(FunctionRef from, Certainty certainty) const;
  std::optional<FunctionRef> python_caller(const FunctionRef& callee, Certainty& certainty) const;
  std::optional<FunctionRef> member_caller(const FunctionRef& callee) const;
  std::optional<FunctionRef> op_caller(const FunctionRef& callee, Certainty& certainty) const;
  bool is_public(const FunctionRef& ref) const;
  std::vector<PathHop> cpp_callers_of(const PathHop& outermost) const;
  const cpp::Function& cpp_at(const FunctionRef& ref) const {
    return readings_.readings[ref.file].cpp.functions[ref.function];
  }
  const python::Function& python_at(const FunctionRef& ref) const {
    return readings_.readings[ref.file].python.functions[ref.function];
  }

  const Readings& readings_;
  const SymbolIndex& index_;
  const PythonNames& names_;
  const PythonTypes& types_;
  const CppReceivers receivers_;
  const ExtensionModules modules_;
  const PythonOps ops_;
  mutable size_t tries_left_ = 0;  // callers that all searches together may look at
  // By the name that is called; the names are the readings'.
  std::unordered_map<std::string_view, std::vector<CppCaller>> cpp_callers_;
  std::unordered_map<std::string_view, std::vector<FunctionRef>> python_callers_;
  // Files by the last names of the modules, and the names, that they import.
  std::unordered_map<std::string_view, std::vector<uint32_t>> importers_;
  // By file: the first definition of each qualified name; all of them.
  std::vector<std::unordered_map<std::string, size_t>> cpp_functions_;
  std::vector<std::unordered_map<std::string, std::vector<size_t>>> python_functions_;
  // How many functions have a name, and how many of C++'s methods.
  std::unordered_map<std::string_view, size_t> python_definitions_, methods_;
  std::unordered_set<std::string_view> class_names_;  // of C++
  // Functions that name a source file in a literal: they compile it at run time.
  std::map<std::string, std::vector<FunctionRef>, std::less<>> generators_;
  // A function that names an export without calling it, and the object that it names it of.
  struct Holder {
    FunctionRef function;
    std::string_view object;
  };
  std::unordered_map<std::string_view, std::vector<Holder>> holders_;   // by the export's last name
  std::unordered_map<std::string_view, std::set<uint32_t>> exporters_;  // the files, by that name
  std::vector<Exported> exports_;
  // The first export of each function: by its symbol, and by how a generator writes its name.
  std::unordered_map<uint32_t, size_t> exported_symbols_;
  std::map<std::string, size_t, std::less<>> generated_;
  // `run_func = module.run`, SimpleNamespace(run=run_it): by file and name, what it stands for.
  std::map<std::pair<uint32_t, std::string_view>, std::vector<std::string_view>> aliases_, members_;
  std::unordered_set<std::string_view> public_names_;  // imported by a package's __init__.py
};

}  // namespace fathom
