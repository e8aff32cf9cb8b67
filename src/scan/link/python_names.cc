#include "scan/link/python_names.h"

#include <algorithm>

#include "scan/code_names.h"

namespace fathom {
namespace {

// Imports that go round in circles end here.
constexpr int kMaxHops = 12;

std::string dotted_path(std::string_view path) {
  if (path.ends_with(".py")) path.remove_suffix(3);
  if (path.ends_with("/__init__")) path.remove_suffix(9);
  std::string out(path);
  std::replace(out.begin(), out.end(), '/', '.');
  return out;
}

bool is_package_file(std::string_view path) {
  return path == "__init__.py" || path.ends_with("/__init__.py");
}

std::string_view folder_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

// Whether `dotted` is `module` or ends with ".module".
bool ends_with_module(std::string_view dotted, std::string_view module) {
  if (!dotted.ends_with(module)) return false;
  return dotted.size() == module.size() || dotted[dotted.size() - module.size() - 1] == '.';
}

std::optional<size_t> find_class(const std::vector<python::Class>& classes, std::string_view name) {
  for (size_t i = 0; i < classes.size(); ++i) {
    if (classes[i].scope.empty() && classes[i].name == name) return i;
  }
  return std::nullopt;
}

std::optional<size_t> find_function(const std::vector<python::Function>& functions,
                                    std::string_view name) {
  std::optional<size_t> signature;
  for (size_t i = 0; i < functions.size(); ++i) {
    if (!functions[i].scope.empty() || functions[i].name != name) continue;
    if (!is_overload(functions[i])) return i;
    if (!signature) signature = i;
  }
  return signature;
}

}  // namespace

bool is_overload(const python::Function& function) {
  return std::any_of(function.decorators.begin(), function.decorators.end(),
                     [](const std::string& d) { return last_part(d) == "overload"; });
}

PythonNames::PythonNames(const Readings& readings) : readings_(readings) {
  std::set<std::string_view> packages;
  for (const SourceFile& file : readings.files) {
    if (is_package_file(file.path)) packages.insert(folder_of(file.path));
  }
  // What a setup.py installs is found from its folder, whatever else lies there.
  for (const SourceFile& file : readings.files) {
    if (file_name(file.path) == "setup.py") packages.erase(folder_of(file.path));
  }
  modules_.resize(readings.files.size());
  for (uint32_t i = 0; i < readings.files.size(); ++i) {
    const SourceFile& file = readings.files[i];
    if (file.language != Language::kPython) continue;
    // The module's name begins where the folders stop being packages.
    std::string_view root = folder_of(file.path);
    while (!root.empty() && packages.contains(root)) root = folder_of(root);
    modules_[i] = dotted_path(file.path.substr(root.empty() ? 0 : root.size() + 1));
    by_last_part_[std::string(last_part(dotted_path(file.path)))].push_back(i);
  }
}

std::optional<uint32_t> PythonNames::find_module(std::string_view module,
                                                 uint32_t from_file) const {
  std::string absolute(module);
  if (module.starts_with('.')) {
    const size_t dots = std::min(module.find_first_not_of('.'), module.size());
    std::string_view folder = folder_of(readings_.files[from_file].path);
    for (size_t i = 1; i < dots; ++i) folder = folder_of(folder);
    absolute = dotted_path(folder);
    if (dots < module.size()) {
      if (!absolute.empty()) absolute += '.';
      absolute += module.substr(dots);
    }
  }
  const auto found = by_last_part_.find(last_part(absolute));
  if (found == by_last_part_.end()) return std::nullopt;
  std::optional<uint32_t> best;
  size_t best_shared = 0;
  for (const uint32_t file : found->second) {
    const std::string& path = readings_.files[file].path;
    if (!ends_with_module(dotted_path(path), absolute)) continue;
    // No module imports itself: package/x.py may hand on all of x.py.
    if (file == from_file && !module.starts_with('.') && modules_[file] != absolute) continue;
    // `import torch` is not package/torch.py, which is called package.torch; without an
    // __init__.py at the top the package's own name is longer than what is known of it.
    if (!module.starts_with('.') && !ends_with_module(absolute, modules_[file])) continue;
    // A repository may hold two modules of one name: the nearer one is meant.
    const size_t shared = common_prefix(path, readings_.files[from_file].path);
    if (!best || shared > best_shared) {
      best = file;
      best_shared = shared;
    }
  }
  return best;
}

std::optional<PythonName> PythonNames::resolve(std::string_view name, uint32_t file) const {
  return in_file(name, file, 0);
}

std::optional<PythonName> PythonNames::in_file(std::string_view name, uint32_t file,
                                               int depth) const {
  if (depth > kMaxHops || name.empty()) return std::nullopt;
  const python::PythonFile& python = readings_.readings[file].python;
  const size_t dot = name.find('.');
  const std::string_view head = name.substr(0, dot);
  if (dot == std::string_view::npos) {
    if (auto at = find_function(python.functions, head)) {
      return PythonName{PythonName::Kind::kFunction, file, *at};
    }
    if (auto at = find_class(python.classes, head)) {
      return PythonName{PythonName::Kind::kClass, file, *at};
    }
    for (size_t i = 0; i < python.constants.size(); ++i) {
      if (python.constants[i].first == head)
        return PythonName{PythonName::Kind::kConstant, file, i};
    }
  }
  for (const python::Import& import : python.imports) {
    if (auto found = through_import(import, name, file, depth)) return found;
  }
  return std::nullopt;
}

std::optional<PythonName> PythonNames::through_import(const python::Import& import,
                                                      std::string_view name, uint32_t file,
                                                      int depth) const {
  if (import.name == "*") {
    const auto module = find_module(import.module, file);
    return module && *module != file ? in_file(name, *module, depth + 1) : std::nullopt;
  }
  // `import a.b` binds a, but makes a.b.c reachable; `import a.b as c` and `from` bind one name.
  const std::string_view bound = import.bound_to;
  if (name != bound &&
      !(name.starts_with(bound) && name.size() > bound.size() && name[bound.size()] == '.')) {
    return std::nullopt;
  }
  const std::string_view rest = name.size() > bound.size() ? name.substr(bound.size() + 1) : "";
  if (import.name.empty()) {
    const auto module = find_module(import.module, file);
    if (module && rest.empty()) return PythonName{PythonName::Kind::kModule, *module, 0};
    if (module) return in_file(rest, *module, depth + 1);
    return std::nullopt;
  }
  if (const auto module = find_module(import.module, file); module && *module != file) {
    std::string wanted = import.name;
    if (!rest.empty()) wanted += "." + std::string(rest);
    if (auto found = in_file(wanted, *module, depth + 1)) return found;
  }
  // `from package import module`
  const std::string separator = import.module.ends_with('.') ? "" : ".";
  if (const auto module = find_module(import.module + separator + import.name, file)) {
    if (rest.empty()) return PythonName{PythonName::Kind::kModule, *module, 0};
    return in_file(rest, *module, depth + 1);
  }
  return std::nullopt;
}

std::optional<PythonField> PythonNames::find_field(uint32_t file, const python::Class& owner,
                                                   std::string_view field) const {
  return field_of(file, owner, field, 0);
}

std::vector<std::pair<uint32_t, const python::Class*>> PythonNames::with_bases(
    uint32_t file, const python::Class& type) const {
  std::vector<std::pair<uint32_t, const python::Class*>> out;
  std::vector<std::pair<uint32_t, const python::Class*>> left = {{file, &type}};
  while (!left.empty()) {
    const auto at = left.back();
    left.pop_back();
    if (std::find(out.begin(), out.end(), at) != out.end()) continue;
    out.push_back(at);
    for (size_t i = at.second->bases.size(); i-- > 0;) {
      const auto found = resolve(at.second->bases[i], at.first);
      if (!found || found->kind != PythonName::Kind::kClass) continue;
      left.emplace_back(found->file, &readings_.readings[found->file].python.classes[found->index]);
    }
  }
  return out;
}

std::optional<PythonField> PythonNames::field_of(uint32_t file, const python::Class& owner,
                                                 std::string_view field, int depth) const {
  if (depth > kMaxHops) return std::nullopt;
  for (const python::Field& candidate : owner.fields) {
    if (candidate.name == field) return PythonField{file, &owner, &candidate};
  }
  for (const std::string& base : owner.bases) {
    const auto found = resolve(base, file);
    if (!found || found->kind != PythonName::Kind::kClass) continue;
    const python::Class& parent = readings_.readings[found->file].python.classes[found->index];
    if (auto inherited = field_of(found->file, parent, field, depth + 1)) return inherited;
  }
  return std::nullopt;
}

}  // namespace fathom
