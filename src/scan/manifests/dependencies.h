#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scan/facts/code_facts.h"
#include "scan/files/repository.h"

namespace fathom {

// What one file declares. Places have no file yet: whoever read it knows which it is.
struct Declarations {
  std::vector<DependencyFacts> dependencies;
  std::vector<EntryPoint> entry_points;
  std::vector<std::string> includes;  // further requirement files, relative to this file's folder
  std::vector<std::string> targets;   // what the file itself builds, which nobody else provides
};

// pyproject.toml, requirements*.txt, setup.py, setup.cfg, environment.yml, CMake files,
// meson.build, .gitmodules, package.json, Cargo.toml.
bool declares_dependencies(std::string_view path);
Declarations read_declarations(std::string_view path, std::string_view text);

// Those of the repository's own files, in order of place; console scripts are added to the entry
// points.
void find_dependencies(const Repository& repository, CodeFacts& facts);

// The readers, by format.
Declarations read_pyproject(std::string_view text);
Declarations read_requirements(std::string_view path, std::string_view text);
Declarations read_setup_py(std::string_view text);
Declarations read_setup_cfg(std::string_view text);
Declarations read_conda_environment(std::string_view text);
Declarations read_cmake(std::string_view text);
Declarations read_meson(std::string_view text);
Declarations read_package_json(std::string_view text);
Declarations read_cargo_toml(std::string_view text);

// "ray[cgraph]>=2.48; sys_platform == 'linux'" (PEP 508); nothing for what is none.
std::optional<DependencyFacts> python_requirement(std::string_view text, uint32_t line,
                                                  std::string_view group);
// A group's name as each of its dependencies keeps it: only so long.
std::string dependency_group(std::string_view name);
// "name = package.module:function"
std::optional<EntryPoint> console_script(std::string_view name, std::string_view target,
                                         uint32_t line);

}  // namespace fathom
