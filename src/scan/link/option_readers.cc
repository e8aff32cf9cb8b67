#include "scan/link/option_readers.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "scan/link/code_purpose.h"

namespace fathom {
namespace {

// A name that more folders use is a common word.
constexpr size_t kMaxFolders = 6;

}  // namespace

OptionReaders::OptionReaders(const Readings& readings) : readings_(readings) {
  std::unordered_set<std::string_view> wanted;
  for (const FileReading& reading : readings.readings) {
    for (const python::Option& option : reading.python.options) wanted.insert(option.dest);
    for (const python::Class& type : reading.python.classes) {
      for (const python::Field& field : type.fields) wanted.insert(field.name);
    }
  }
  const auto declares = [](const python::PythonFile& python, std::string_view name, uint32_t line) {
    for (const python::Class& type : python.classes) {
      for (const python::Field& field : type.fields) {
        if (field.line == line && field.name == name) return true;
      }
    }
    return false;
  };
  for (uint32_t file = 0; file < readings.files.size(); ++file) {
    if (readings.files[file].origin != Origin::kOwn || is_test_path(readings.files[file].path))
      continue;
    const python::PythonFile& python = readings.readings[file].python;
    for (size_t i = 0; i < python.names_used.size(); ++i) {
      const std::string& name = python.names_used[i];
      if (!wanted.contains(name) || declares(python, name, python.names_used_at[i])) continue;
      users_[name].push_back({file, python.names_used_at[i]});
    }
    for (const auto& [name, line] : python.settings_read) {
      if (wanted.contains(name)) readers_[name].push_back({file, line});
    }
  }
}

std::string OptionReaders::component_of(uint32_t file) const {
  const std::string& path = readings_.files[file].path;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

std::set<std::string> OptionReaders::folders_of(const Users& users, std::string_view name,
                                                uint32_t declared_in) const {
  const auto found = users.find(name);
  if (found == users.end()) return {};
  std::set<std::string> folders;
  for (const CodePlace& place : found->second) {
    if (place.file != declared_in) folders.insert(component_of(place.file));
  }
  if (folders.size() > kMaxFolders) return {};
  return folders;
}

bool OptionReaders::only_by_name(std::string_view name, uint32_t declared_in) const {
  return folders_of(readers_, name, declared_in).empty();
}

std::set<std::string> OptionReaders::folders_using(std::string_view name,
                                                   uint32_t declared_in) const {
  return folders_of(only_by_name(name, declared_in) ? users_ : readers_, name, declared_in);
}

std::vector<CodePlace> OptionReaders::places_using(std::string_view name,
                                                   uint32_t declared_in) const {
  if (folders_using(name, declared_in).empty()) return {};
  const Users& users = only_by_name(name, declared_in) ? users_ : readers_;
  std::vector<CodePlace> out;
  for (const CodePlace& place : users.find(name)->second) {
    if (place.file != declared_in) out.push_back(place);
  }
  return out;
}

std::string OptionReaders::components_using(std::string_view name, uint32_t declared_in) const {
  const std::set<std::string> folders = folders_using(name, declared_in);
  std::string out;
  for (const std::string& folder : folders) out += (out.empty() ? "" : ", ") + folder;
  return out;
}

}  // namespace fathom
