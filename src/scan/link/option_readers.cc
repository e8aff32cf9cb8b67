#include "scan/link/option_readers.h"

#include <algorithm>
#include <set>

namespace fathom {
namespace {

// A name that more folders use is a common word.
constexpr size_t kMaxFolders = 6;

bool is_test_path(std::string_view path) {
  return path.starts_with("test") || path.find("/test") != std::string_view::npos;
}

}  // namespace

OptionReaders::OptionReaders(const Readings& readings) : readings_(readings) {
  std::set<std::string_view> wanted;
  for (const FileReading& reading : readings.readings) {
    for (const python::Option& option : reading.python.options) wanted.insert(option.dest);
    for (const python::Class& type : reading.python.classes) {
      for (const python::Field& field : type.fields) wanted.insert(field.name);
    }
  }
  for (uint32_t file = 0; file < readings.files.size(); ++file) {
    if (readings.files[file].origin != Origin::kOwn || is_test_path(readings.files[file].path))
      continue;
    for (const std::string& name : readings.readings[file].python.names_used) {
      if (wanted.contains(name)) users_[name].push_back(file);
    }
  }
}

std::string OptionReaders::component_of(uint32_t file) const {
  const std::string& path = readings_.files[file].path;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

std::string OptionReaders::components_using(std::string_view name, uint32_t declared_in) const {
  const auto found = users_.find(name);
  if (found == users_.end()) return "";
  std::set<std::string> folders;
  for (const uint32_t file : found->second) {
    if (file != declared_in) folders.insert(component_of(file));
  }
  if (folders.size() > kMaxFolders) return "";
  std::string out;
  for (const std::string& folder : folders) out += (out.empty() ? "" : ", ") + folder;
  return out;
}

}  // namespace fathom
