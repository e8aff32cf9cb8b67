#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scan/index/file_code.h"

namespace fathom {

// A function or class of a Python file, by its place in the file's list.
struct PythonRef {
  uint32_t file = 0;
  uint32_t index = 0;
  friend auto operator<=>(const PythonRef&, const PythonRef&) = default;
};

// Where a Python name was defined: a function, a class or a module-level constant of a file.
struct PythonName {
  enum class Kind : uint8_t { kModule, kFunction, kClass, kConstant };
  Kind kind;
  uint32_t file;
  uint32_t index;  // in that file's functions, classes or constants
  PythonRef ref() const { return {file, index}; }
  friend bool operator==(const PythonName&, const PythonName&) = default;
};

// In place of a function's index: code outside any.
constexpr uint32_t kPythonModuleLevel = UINT32_MAX;

// A dataclass field found through inheritance.
struct PythonField {
  uint32_t file;
  const python::Class* owner;
  const python::Field* field;
};

// @overload def f(…): a signature for type checkers; the function stands below.
bool is_overload(const python::Function& function);

// The functions, classes and constants of Python by name, and what a name means in a file: imports
// are followed across the files of a repository, re-exports and star imports included.
class PythonNames {
 public:
  explicit PythonNames(const std::vector<FileCode>& files);

  // "minisgl.server.args": what a file is called in imports.
  const std::string& module_of(uint32_t file) const { return modules_[file]; }
  // The file that `module` means when `from_file` imports it; none: it is not in the repository.
  std::optional<uint32_t> find_module(std::string_view module, uint32_t from_file) const;
  // What a dotted name means in a file, at module level.
  std::optional<PythonName> resolve(std::string_view name, uint32_t file) const;
  // The function or class that it means, where it is one.
  std::optional<PythonRef> resolve_function(std::string_view name, uint32_t file) const;
  std::optional<PythonRef> resolve_class(std::string_view name, uint32_t file) const;
  // All that it can mean where several imports bind it: `if fast: from a import f`, `else: from b
  // import f`. What the file defines itself hides them.
  std::vector<PythonName> resolve_all(std::string_view name, uint32_t file) const;
  // The function that a name means inside others: one that stands in them, else at module level.
  std::optional<PythonRef> function_named(std::string_view name, uint32_t file,
                                          std::string_view around) const;
  // Where a function or class is named; of anything else line 0 of its file.
  CodePlace place_of(const PythonName& name) const;
  // By "scope.name", in the file itself.
  std::optional<PythonRef> find_function(uint32_t file, const std::string& qualified) const;
  std::optional<PythonRef> find_class(uint32_t file, const std::string& qualified) const;
  // The file's imports that bind a plain name, in order of line.
  std::vector<const python::Import*> imports_of(std::string_view name, uint32_t file) const;
  // The field or class-level value, in the class or the nearest base that has it.
  std::optional<PythonField> find_field(uint32_t file, const python::Class& owner,
                                        std::string_view field) const;
  // The class and then its bases with their files, in the order in which a field is looked for.
  std::vector<std::pair<uint32_t, const python::Class*>> with_bases(
      uint32_t file, const python::Class& type) const;

 private:
  // The names that one question has looked for in files: none is looked for twice. And how many
  // modules of star imports it has looked at.
  struct Asked {
    std::set<std::pair<uint32_t, std::string>> names;
    size_t star_steps = 0;
  };
  // What a file defines and its imports, by the first part of their names.
  struct FileNames {
    std::unordered_map<std::string_view, PythonName> defined;  // at module level
    std::unordered_map<std::string_view, std::vector<uint32_t>> imports;
    std::vector<uint32_t> stars;                                   // `from x import *`
    std::unordered_map<std::string, uint32_t> functions, classes;  // by "scope.name"
  };

  const python::PythonFile& python(uint32_t file) const { return *code_[file].python; }
  const std::string& path(uint32_t file) const { return code_[file].file->path; }
  static FileNames names_in(const python::PythonFile& python, uint32_t file);
  std::optional<PythonName> in_file(std::string_view name, uint32_t file, Asked& asked,
                                    int depth) const;
  // The same without what star imports bring.
  std::optional<PythonName> bound_in(std::string_view name, uint32_t file, Asked& asked,
                                     int depth) const;
  std::optional<PythonName> through_import(const python::Import& import, std::string_view name,
                                           uint32_t file, Asked& asked, int depth) const;
  std::optional<PythonName> through_stars(std::string_view name, uint32_t file, Asked& asked,
                                          int depth) const;
  // The modules of the repository that a file's star imports name, in order.
  const std::vector<uint32_t>& star_modules(uint32_t file) const;
  // Those and theirs, sorted; one list for all files that bring each other.
  const std::vector<uint32_t>& star_reach(uint32_t file) const;

  const std::vector<FileCode>& code_;
  std::vector<FileNames> files_;
  // The files that define or import a name, sorted.
  std::unordered_map<std::string_view, std::vector<uint32_t>> holders_;
  mutable std::unordered_map<uint32_t, std::vector<uint32_t>> star_modules_;
  mutable std::unordered_map<uint32_t, size_t> star_reach_of_;  // by file, in star_reaches_
  mutable std::deque<std::vector<uint32_t>> star_reaches_;
  mutable std::vector<std::unordered_map<std::string, std::optional<PythonName>>> resolved_;
  std::vector<std::string> modules_;
  std::vector<std::string> dotted_;  // the paths of Python files as a module's: "src.server.args"
  // Python files by the last part of their dotted paths, and by the last two.
  std::map<std::string, std::vector<uint32_t>, std::less<>> by_last_part_;
};

}  // namespace fathom
