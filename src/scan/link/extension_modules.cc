#include "scan/link/extension_modules.h"

#include <algorithm>

#include "scan/facts/code_names.h"

namespace fathom {
namespace {

bool builds_extension(std::string_view callee) {
  const std::string_view name = last_part(callee);
  return is_one_of(name, {"CUDAExtension", "CppExtension", "Extension", "Pybind11Extension"});
}

// The literals of an expression: ["a.cpp", "b.cu"].
std::vector<std::string_view> literals_in(std::string_view text) {
  std::vector<std::string_view> out;
  for (size_t at = text.find_first_of("\"'"); at < text.size();
       at = text.find_first_of("\"'", at)) {
    const size_t end = text.find(text[at], at + 1);
    if (end == std::string_view::npos) break;
    out.push_back(text.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return out;
}

bool ends_path(std::string_view path, std::string_view end) {
  while (end.starts_with("./")) end.remove_prefix(2);
  return ends_with_part(path, end, '/');
}

}  // namespace

ExtensionModules::ExtensionModules(const Readings& readings) : readings_(readings) {
  for (uint32_t file = 0; file < readings.files.size(); ++file) {
    const FileReading& reading = readings.readings[file];
    if (readings.files[file].language != Language::kPython)
      files_by_name_[std::string(file_name(readings.files[file].path))].push_back(file);
    for (const cpp::Binding& binding : reading.usage.bindings) {
      if (!binding.module.empty()) add(file, binding.module);
    }
  }
  for (uint32_t file = 0; file < readings.files.size(); ++file) {
    const python::PythonFile& python = readings.readings[file].python;
    for (const python::Call& call : python.module_calls) read_extension(call, file);
    for (const python::Function& function : python.functions) {
      for (const python::Call& call : function.calls) read_extension(call, file);
    }
  }
}

void ExtensionModules::read_extension(const python::Call& call, uint32_t file) {
  if (call.arguments.empty() || !builds_extension(call.callee)) return;
  std::string_view name, sources;
  size_t position = 0;
  for (const python::Argument& argument : call.arguments) {
    const size_t at = position++;
    if (argument.name == "name" || (argument.name.empty() && at == 0)) name = argument.text;
    if (argument.name == "sources" || (argument.name.empty() && at == 1)) sources = argument.text;
  }
  const std::vector<std::string_view> names = literals_in(name);
  if (names.size() != 1) return;
  // Of f"{package}._C" the last part is known.
  const std::string_view module = last_part(names[0]);
  if (module.empty() || module.find_first_of("{}") != std::string_view::npos) return;
  built_.emplace(module);
  const std::string_view setup = readings_.files[file].path;
  const std::string_view folder = setup.substr(0, setup.size() - file_name(setup).size());
  std::vector<uint32_t> files;
  for (std::string_view source : literals_in(sources)) {
    const auto found = files_by_name_.find(file_name(source));
    if (found == files_by_name_.end()) continue;
    for (uint32_t cpp_file : found->second) {
      const std::string_view path = readings_.files[cpp_file].path;
      if (path.starts_with(folder) && ends_path(path, source)) files.push_back(cpp_file);
    }
  }
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  for (const uint32_t cpp_file : files) {
    if (readings_.readings[cpp_file].usage.bindings.empty()) continue;
    add(cpp_file, module);
    sources_.emplace(cpp_file, files);
  }
}

const std::vector<uint32_t>& ExtensionModules::sources_with(uint32_t cpp_file) const {
  return value_or_empty(sources_, cpp_file);
}

void ExtensionModules::add(uint32_t cpp_file, std::string_view module) {
  std::vector<std::string>& modules = modules_[cpp_file];
  if (!contains(modules, module)) modules.emplace_back(module);
}

const std::vector<std::string>& ExtensionModules::of(uint32_t cpp_file) const {
  return value_or_empty(modules_, cpp_file);
}

bool ExtensionModules::is_imported_as(std::string_view name, uint32_t python_file,
                                      uint32_t cpp_file) const {
  const std::vector<std::string>& modules = of(cpp_file);
  const auto& imports = readings_.readings[python_file].python.imports;
  return std::any_of(imports.begin(), imports.end(), [&](const python::Import& import) {
    // `import pkg._C` binds pkg, and is called as pkg._C.fwd.
    const std::string_view meant = import.name.empty() ? last_part(import.module) : import.name;
    const bool bound = import.bound_to == name || last_part(import.module) == name;
    return bound && contains(modules, meant);
  });
}

}  // namespace fathom
