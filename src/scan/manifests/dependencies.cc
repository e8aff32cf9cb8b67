#include "scan/manifests/dependencies.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/glob.h"
#include "scan/facts/code_names.h"
#include "scan/facts/text_lines.h"
#include "scan/files/git_files.h"
#include "scan/files/source_text.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

// Beyond this it is data that has the name by chance.
constexpr uint64_t kMaxDeclarationBytes = 4u << 20;

enum class Format {
  kNone,
  kPyproject,
  kRequirements,
  kSetupPy,
  kSetupCfg,
  kConda,
  kCMake,
  kMeson,
  kGitModules,
  kPackageJson,
  kCargo
};

Format format_of(std::string_view path) {
  const std::string_view name = file_name(path);
  if (name == "pyproject.toml") return Format::kPyproject;
  if (name == "setup.py") return Format::kSetupPy;
  if (name == "setup.cfg") return Format::kSetupCfg;
  if (name == ".gitmodules") return path == name ? Format::kGitModules : Format::kNone;
  if (name == "package.json") return Format::kPackageJson;
  if (name == "Cargo.toml") return Format::kCargo;
  if (name == "CMakeLists.txt" || name.ends_with(".cmake")) return Format::kCMake;
  if (name == "meson.build") return Format::kMeson;
  if (glob_matches("environment*.yml", name) || glob_matches("environment*.yaml", name)) {
    return Format::kConda;
  }
  const bool is_list = name.ends_with(".txt") || name.ends_with(".in");
  const bool in_folder = file_name(folder_of_path(path)) == "requirements";
  if (is_list && (holds(name, "requirements") || in_folder)) {
    return Format::kRequirements;
  }
  return Format::kNone;
}

Declarations read_submodules(std::string_view text) {
  Declarations out;
  for (const Submodule& module : read_gitmodules(text)) {
    out.dependencies.push_back({module.name.empty() ? module.path : module.name,
                                module.url,
                                DependencyKind::kSubmodule,
                                "",
                                {0, module.line},
                                {},
                                Certainty::kCertain,
                                module.path});
  }
  return out;
}

// A library that many targets link is one dependency; those that the repository builds are none.
void merge_libraries(const std::set<std::string>& targets, std::vector<DependencyFacts>& all) {
  std::map<std::string, size_t> first;
  std::vector<DependencyFacts> kept;
  for (DependencyFacts& dependency : all) {
    if (dependency.kind == DependencyKind::kSystem) {
      // The project's own targets, and what it exports them as: core::core.
      const size_t colons = dependency.name.find("::");
      const bool exported = colons != std::string::npos &&
                            targets.contains(dependency.name.substr(colons + 2)) &&
                            targets.contains(dependency.name.substr(0, colons));
      if (exported || targets.contains(dependency.name)) continue;
      const auto [found, is_new] = first.emplace(dependency.name, kept.size());
      if (!is_new) {
        kept[found->second].used_at.push_back(dependency.at);
        continue;
      }
    }
    kept.push_back(std::move(dependency));
  }
  all = std::move(kept);
}

}  // namespace

bool declares_dependencies(std::string_view path) { return format_of(path) != Format::kNone; }

Declarations read_declarations(std::string_view path, std::string_view text) {
  switch (format_of(path)) {
    case Format::kPyproject:
      return read_pyproject(text);
    case Format::kSetupPy:
      return read_setup_py(text);
    case Format::kSetupCfg:
      return read_setup_cfg(text);
    case Format::kConda:
      return read_conda_environment(text);
    case Format::kCMake:
      return read_cmake(text);
    case Format::kMeson:
      return read_meson(text);
    case Format::kGitModules:
      return read_submodules(text);
    case Format::kPackageJson:
      return read_package_json(text);
    case Format::kCargo:
      return read_cargo_toml(text);
    case Format::kRequirements:
    case Format::kNone:  // included by a requirement file under any name
      return read_requirements(path, text);
  }
  return {};
}

void find_dependencies(const Repository& repository, CodeFacts& facts) {
  const std::vector<SourceFile>& files = repository.files;
  std::vector<uint32_t> to_read;
  std::set<uint32_t> seen;
  for (uint32_t i = 0; i < files.size(); ++i) {
    const bool own = files[i].origin == Origin::kOwn || files[i].origin == Origin::kGenerated;
    if (own && declares_dependencies(files[i].path)) to_read.push_back(i);
  }
  seen.insert(to_read.begin(), to_read.end());
  std::set<std::string> targets;
  for (size_t next = 0; next < to_read.size(); ++next) {
    const uint32_t index = to_read[next];
    const SourceFile& file = files[index];
    if (!file.skipped.empty() || file.size > kMaxDeclarationBytes) continue;
    const Result<std::string> text = read_source_text(repository.root / file.path);
    if (!text.ok()) continue;  // noted when the repository was listed
    Declarations declared = read_declarations(file.path, text.value());
    for (DependencyFacts& dependency : declared.dependencies) {
      dependency.at.file = index;
      facts.dependencies.push_back(std::move(dependency));
    }
    for (EntryPoint& entry : declared.entry_points) {
      entry.at.file = index;
      facts.entry_points.push_back(std::move(entry));
    }
    targets.insert(declared.targets.begin(), declared.targets.end());
    for (const std::string& include : declared.includes) {
      const std::string path =
          (fs::path(folder_of_path(file.path)) / include).lexically_normal().generic_string();
      const auto found = std::ranges::lower_bound(files, path, {}, &SourceFile::path);
      if (found == files.end() || found->path != path) continue;
      const auto included = static_cast<uint32_t>(found - files.begin());
      if (seen.insert(included).second) to_read.push_back(included);
    }
  }
  const auto by_place = [](const auto& a, const auto& b) { return a.at < b.at; };
  std::ranges::stable_sort(facts.dependencies, by_place);
  std::ranges::stable_sort(facts.entry_points, by_place);
  merge_libraries(targets, facts.dependencies);
}

}  // namespace fathom
