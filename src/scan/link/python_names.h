#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scan/link/readings.h"

namespace fathom {

// Where a Python name was defined: a function, a class or a module-level constant of a file.
struct PythonName {
  enum class Kind : uint8_t { kModule, kFunction, kClass, kConstant };
  Kind kind;
  uint32_t file;
  size_t index;  // in that file's functions, classes or constants
  friend bool operator==(const PythonName&, const PythonName&) = default;
};

// A function or class of a Python file, by its place in the file's list.
struct PythonRef {
  uint32_t file = 0;
  uint32_t index = 0;
  friend auto operator<=>(const PythonRef&, const PythonRef&) = default;
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

// Follows Python's imports across the files of a repository, re-exports and star imports included.
class PythonNames {
 public:
  explicit PythonNames(const Readings& readings);

  // "minisgl.server.args": what a file is called in imports.
  const std::string& module_of(uint32_t file) const { return modules_[file]; }
  // The file that `module` means when `from_file` imports it; none: it is not in the repository.
  std::optional<uint32_t> find_module(std::string_view module, uint32_t from_file) const;
  // What a dotted name means in a file.
  std::optional<PythonName> resolve(std::string_view name, uint32_t file) const;
  // All that it can mean where several imports bind it: `if fast: from a import f`, `else: from b
  // import f`. What the file defines itself hides them.
  std::vector<PythonName> resolve_all(std::string_view name, uint32_t file) const;
  // The file's imports that bind a plain name, in order of line.
  std::vector<const python::Import*> imports_of(std::string_view name, uint32_t file) const;
  // The field or class-level value, in the class or the nearest base that has it.
  std::optional<PythonField> find_field(uint32_t file, const python::Class& owner,
                                        std::string_view field) const;
  // The class and then its bases with their files, in the order in which a field is looked for.
  std::vector<std::pair<uint32_t, const python::Class*>> with_bases(
      uint32_t file, const python::Class& type) const;

 private:
  // The names that one question has looked for in files: none is looked for twice.
  using Asked = std::set<std::pair<uint32_t, std::string>>;
  std::optional<PythonName> in_file(std::string_view name, uint32_t file, Asked& asked,
                                    int depth) const;
  std::optional<PythonName> through_import(const python::Import& import, std::string_view name,
                                           uint32_t file, Asked& asked, int depth) const;
  // What a file defines at module level, and its imports, by the first part of their names.
  struct FileNames {
    std::unordered_map<std::string_view, PythonName> defined;
    std::unordered_map<std::string_view, std::vector<uint32_t>> imports;
    std::vector<uint32_t> stars;  // `from x import *`
  };
  // Of a file with many star imports: those that can bring a name.
  struct Stars {
    std::unordered_map<std::string_view, std::vector<uint32_t>> bringing;
    std::vector<uint32_t> open;  // of modules that have star imports themselves
  };
  std::vector<uint32_t> stars_for(std::string_view head, uint32_t file) const;
  std::optional<uint32_t> module_of_import(const python::Import& import, uint32_t file) const;
  static FileNames names_in(const python::PythonFile& python, uint32_t file);

  const Readings& readings_;
  std::vector<FileNames> files_;
  mutable std::unordered_map<uint32_t, Stars> stars_;
  mutable std::unordered_map<const python::Import*, std::optional<uint32_t>> imported_;
  std::vector<std::string> modules_;
  std::vector<std::string> dotted_;  // the paths of Python files as a module's: "src.server.args"
  // Python files by the last part of their dotted paths, and by the last two.
  std::map<std::string, std::vector<uint32_t>, std::less<>> by_last_part_;
};

}  // namespace fathom
