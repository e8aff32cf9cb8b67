#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scan/link/jit_modules.h"
#include "scan/link/python_names.h"

namespace fathom {

// What an expression can stand for.
struct PythonValue {
  enum class Kind : uint8_t {
    kFunction,
    kClass,     // the class itself
    kInstance,  // an object of it, or of one that inherits from it; a list of them too
    kModule,    // file
    kTable,     // a name of module level that things are registered with: index is in tables
    kScope,    // what a function made that returns no known object: it may hold its inner functions
    kForeign,  // something of a module that the repository does not hold
    kBuilt     // of a C++ module that the function `ref` builds: the module, or its `member`
  };
  Kind kind;
  PythonRef ref;
  bool exact = false;  // kInstance: made by the class's own constructor
  Certainty certainty = Certainty::kCertain;
  bool element = false;  // kInstance: it lies in the list that was asked for
  std::string module;    // kForeign
  std::string through;   // the registry or base class that stands between; may be empty
  // kBuilt: what the module is asked for; empty: the module itself. kForeign of torch:
  // "ops.library.name".
  std::string member = {};
};

// Says what names, attributes and calls mean in the function that they stand in: by imports,
// constructor assignments, annotations, return types, registries and inheritance. Nothing is run;
// where several answers fit, it gives all of them.
class PythonTypes {
 public:
  PythonTypes(const Readings& readings, const PythonNames& names, const JitModules& jit);

  static constexpr uint32_t kModuleLevel = UINT32_MAX;
  using Values = std::vector<PythonValue>;

  // The expression as written in the function; kModuleLevel: outside any.
  Values evaluate(std::string_view expression, uint32_t file, uint32_t function) const {
    return evaluate(expression, file, function, 0);
  }
  // The method of a class, in it or the nearest base that has it.
  std::optional<PythonRef> find_method(const PythonRef& of, std::string_view name) const;
  // The same method where classes that inherit define it anew.
  std::vector<PythonRef> overriding(const PythonRef& of, std::string_view method) const;
  bool is_abstract(const PythonRef& function) const;
  // The class around a method.
  std::optional<PythonRef> class_of(const PythonRef& function) const;
  // Whether a class is the other one or inherits from it.
  bool inherits(const PythonRef& derived, const PythonRef& base) const;
  // The classes of the repository that an annotation names.
  std::vector<PythonRef> classes_in(std::string_view annotation, uint32_t file) const;
  // In the function's own body, in order of line.
  std::vector<python::ValueFlow> flows_in(const PythonRef& function) const;

  const JitModules& jit() const { return jit_; }
  // The function itself or one around it that builds a C++ module.
  std::optional<PythonRef> builder_around(const PythonRef& function) const;

  const python::Function& function(const PythonRef& ref) const {
    return readings_.readings[ref.file].python.functions[ref.index];
  }
  const python::Class& type(const PythonRef& ref) const {
    return readings_.readings[ref.file].python.classes[ref.index];
  }

 private:
  struct FileIndex {
    // Positions in the file's flows by target, in order of line.
    std::unordered_map<std::string_view, std::vector<uint32_t>> flows;
    std::unordered_map<std::string, uint32_t> functions, classes;  // by "scope.name"
  };

  void index_file(uint32_t file);
  void index_bases();
  void index_tables();
  Values evaluate(std::string_view expression, uint32_t file, uint32_t function, int depth) const;
  Values evaluate_uncached(std::string_view expression, uint32_t file, uint32_t function,
                           int depth) const;
  Values head(std::string_view name, uint32_t file, uint32_t function, int depth) const;
  Values local(std::string_view name, uint32_t file, uint32_t function, int depth) const;
  Values elements(std::string_view expression, uint32_t file, uint32_t function, int depth) const;
  Values module_name(std::string_view name, uint32_t file, int depth) const;
  Values attribute(const PythonValue& of, std::string_view name, int depth) const;
  Values instance_attribute(const PythonValue& of, std::string_view name, int depth) const;
  Values assigned_attribute(const PythonRef& of, std::string_view name, int depth) const;
  Values called(const PythonValue& of, int depth) const;
  Values returned(const PythonRef& function, int depth) const;
  Values member_of_scope(const PythonRef& function, std::string_view name, int depth) const;
  Values built_by(const PythonRef& function, int depth) const;
  Values of_torch(const PythonValue& torch, std::string_view name) const;
  Values of_built(const PythonValue& module, std::string_view member) const;
  Values registered(const PythonValue& table) const;
  Values annotated(std::string_view annotation, uint32_t file) const;
  std::vector<PythonRef> bases_of(const PythonRef& of) const;
  std::optional<PythonName> resolve(std::string_view name, uint32_t file) const;

  const Readings& readings_;
  const PythonNames& names_;
  const JitModules& jit_;
  std::vector<FileIndex> files_;
  std::map<PythonRef, std::vector<PythonRef>> derived_, bases_;
  std::map<std::pair<uint32_t, std::string>, uint32_t> table_ids_;
  std::vector<Values> tables_;
  std::vector<std::string> table_names_;
  mutable std::vector<std::unordered_map<std::string, std::optional<PythonName>>> resolved_;
  mutable std::map<std::tuple<uint32_t, uint32_t, std::string>, Values> evaluated_;
};

std::string qualified_name(const python::Function& function);

}  // namespace fathom
