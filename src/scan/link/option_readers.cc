#include "scan/link/option_readers.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "scan/files/code_purpose.h"

namespace fathom {
namespace {

// A name that more folders use is a common word.
constexpr size_t kMaxFolders = 6;

}  // namespace

OptionReaders::OptionReaders(const Readings& readings, const PythonNames& names)
    : readings_(readings), names_(names) {
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
    note_edges(file);
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

void OptionReaders::note_edges(uint32_t file) {
  const python::PythonFile& python = readings_.readings[file].python;
  for (const python::Import& import : python.imports) {
    auto module = import.name.empty() || import.name == "*"
                      ? std::optional<uint32_t>()
                      : names_.find_module(import.module + "." + import.name, file);
    if (!module) module = names_.find_module(import.module, file);
    if (module && *module != file) importers_[*module].insert(file);
    // A package hands on what it imports itself.
    if (!module || import.name.empty()) continue;
    const auto meant = names_.resolve(import.bound_to, file);
    if (meant && meant->file != file) importers_[meant->file].insert(file);
  }
  for (const std::string& callee : python.settings_passed) {
    const auto found = names_.resolve(callee, file);
    if (found && found->file != file) handed_to_[file].insert(found->file);
  }
}

const OptionReaders::Files& OptionReaders::reached_from(uint32_t declared_in) const {
  const auto [known, is_new] = reached_.try_emplace(declared_in);
  Files& out = known->second;
  if (!is_new) return out;
  // More files than this are not followed: the object is everywhere then.
  constexpr size_t kMostFiles = 2000;
  std::vector<uint32_t> open = {declared_in};
  if (const auto importers = importers_.find(declared_in); importers != importers_.end())
    open.insert(open.end(), importers->second.begin(), importers->second.end());
  out.insert(open.begin(), open.end());
  while (!open.empty() && out.size() < kMostFiles) {
    const auto handed = handed_to_.find(open.back());
    open.pop_back();
    if (handed == handed_to_.end()) continue;
    for (const uint32_t file : handed->second) {
      if (out.insert(file).second) open.push_back(file);
    }
  }
  return out;
}

std::string OptionReaders::component_of(uint32_t file) const {
  const std::string& path = readings_.files[file].path;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

std::vector<CodePlace> OptionReaders::reached_places(const Users& users, std::string_view name,
                                                     uint32_t declared_in) const {
  const auto found = users.find(name);
  if (found == users.end()) return {};
  const std::vector<CodePlace>& places = found->second;  // in order of file
  const Files& reached = reached_from(declared_in);
  std::vector<CodePlace> out;
  // A name that thousands of scripts use is looked for in the few files that this one gets to.
  for (const uint32_t file : reached) {
    if (file == declared_in) continue;
    auto place = std::lower_bound(places.begin(), places.end(), CodePlace{file, 0});
    for (; place != places.end() && place->file == file; ++place) out.push_back(*place);
  }
  return out;
}

std::set<std::string> OptionReaders::folders_of(const Users& users, std::string_view name,
                                                uint32_t declared_in) const {
  std::set<std::string> folders;
  for (const CodePlace& place : reached_places(users, name, declared_in))
    folders.insert(component_of(place.file));
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
  // More places say no more.
  constexpr size_t kMostPlaces = 100;
  std::vector<CodePlace> out = reached_places(users, name, declared_in);
  if (out.size() > kMostPlaces) out.resize(kMostPlaces);
  return out;
}

std::string OptionReaders::components_using(std::string_view name, uint32_t declared_in) const {
  const std::set<std::string> folders = folders_using(name, declared_in);
  std::string out;
  for (const std::string& folder : folders) out += (out.empty() ? "" : ", ") + folder;
  return out;
}

}  // namespace fathom
