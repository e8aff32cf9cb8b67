#include "scan/link/uses.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/tsv.h"
#include "scan/facts/code_names.h"

extern const std::string_view python_standard_modules_tsv;
extern const std::string_view python_import_names_tsv;

namespace fathom {
namespace {

// More places than this tell no more.
constexpr size_t kMaxUses = 20;

std::string_view first_part(std::string_view module) {
  return module.substr(0, std::min(module.find('.'), module.size()));
}

// The module that a package is imported as.
std::string module_of_package(std::string_view package,
                              const std::map<std::string_view, std::string_view>& import_names) {
  const std::string name = small_letters(package);
  if (const auto found = import_names.find(name); found != import_names.end())
    return std::string(found->second);
  std::string module = name;
  std::replace(module.begin(), module.end(), '-', '_');
  return module;
}

// The places where each third-party module is imported, in order of file and line.
std::map<std::string, std::vector<CodePlace>> third_party_imports(const Readings& readings,
                                                                  const PythonNames& names) {
  const std::set<std::string_view>& standard = standard_modules();
  std::set<std::string> own;
  for (uint32_t file = 0; file < readings.files.size(); ++file) {
    if (readings.files[file].language != Language::kPython) continue;
    own.insert(std::string(first_part(names.module_of(file))));
    const std::string_view path = import_path(readings.files[file].path);
    const bool in_folder = holds(path, '/');
    if (in_folder && readings.files[file].origin == Origin::kOwn) {
      own.insert(std::string(path.substr(0, path.find('/'))));
    }
  }
  std::map<std::string, std::vector<CodePlace>> out;
  for (uint32_t file = 0; file < readings.files.size(); ++file) {
    if (readings.files[file].origin != Origin::kOwn) continue;
    std::set<std::string_view> seen;
    for (const python::Import& import : readings.readings[file].python.imports) {
      const std::string_view module = first_part(import.module);
      if (module.empty() || standard.contains(module) || own.contains(std::string(module)))
        continue;
      if (seen.insert(module).second) out[std::string(module)].push_back({file, import.line});
    }
  }
  return out;
}

}  // namespace

const std::set<std::string_view>& standard_modules() {
  static const std::set<std::string_view> modules = [] {
    std::set<std::string_view> all;
    for (const auto& row : read_tsv(python_standard_modules_tsv, 1)) all.insert(row[0]);
    return all;
  }();
  return modules;
}

void link_dependency_uses(const Readings& readings, const PythonNames& names,
                          std::vector<DependencyFacts>& dependencies) {
  std::map<std::string_view, std::string_view> import_names;
  for (const auto& row : read_tsv(python_import_names_tsv, 2)) import_names[row[0]] = row[1];
  auto imports = third_party_imports(readings, names);
  std::set<std::string> declared;
  for (DependencyFacts& dependency : dependencies) {
    if (dependency.kind != DependencyKind::kPython && dependency.kind != DependencyKind::kConda)
      continue;
    const std::string module = module_of_package(dependency.name, import_names);
    const auto found = imports.find(module);
    declared.insert(module);
    if (found == imports.end()) continue;
    const size_t count = std::min(found->second.size(), kMaxUses);
    dependency.used_at.assign(found->second.begin(),
                              found->second.begin() + static_cast<ptrdiff_t>(count));
  }
  for (auto& [module, places] : imports) {
    if (declared.contains(module)) continue;
    DependencyFacts used;
    used.name = module;
    used.kind = DependencyKind::kPython;
    used.at = {places.front().file, 0};
    places.resize(std::min(places.size(), kMaxUses));
    used.used_at = std::move(places);
    used.certainty = Certainty::kLikely;  // its package may have another name, and be declared
    dependencies.push_back(std::move(used));
  }
}

}  // namespace fathom
