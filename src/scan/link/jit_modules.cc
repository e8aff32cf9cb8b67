#include "scan/link/jit_modules.h"

#include <algorithm>

#include "scan/facts/code_names.h"

namespace fathom {
namespace {

// A module is handed on through this many functions.
constexpr int kMaxHandOvers = 3;

// "ops/norm.cu" is the end of "csrc/ops/norm.cu".
bool ends_with_path(std::string_view path, std::string_view end) {
  while (end.starts_with("./") || end.starts_with("../")) end.remove_prefix(end.find('/') + 1);
  return ends_with_part(path, end, '/');
}

// "gen().build_and_load" of "make.gen().build_and_load()" → gen: the first function that is called.
std::string_view first_called(std::string_view value) {
  const size_t call = value.find('(');
  return call == std::string_view::npos ? std::string_view() : last_part(value.substr(0, call));
}

}  // namespace

JitModules::JitModules(const Readings& readings) : readings_(readings) {
  for (uint32_t file = 0; file < readings.files.size(); ++file) {
    const SourceFile& source = readings.files[file];
    if (source.language == Language::kPython) continue;
    files_by_name_[file_name(source.path)].push_back(file);
    std::set<std::string_view> names;
    for (const cpp::Binding& binding : readings.readings[file].usage.bindings) {
      if (names.insert(binding.exported).second) ++files_exporting_[binding.exported];
    }
  }
  for (uint32_t file = 0; file < readings.files.size(); ++file) read_python(file);
  for (const auto& [function, files] : sources_) {
    for (const uint32_t file : files) builders_[file].push_back(function);
  }
  find_handing_on();
}

void JitModules::read_python(uint32_t file) {
  const python::PythonFile& python = readings_.readings[file].python;
  std::map<std::string_view, std::vector<uint32_t>> named;  // by function
  for (const python::CudaText& literal : python.cuda_texts) {
    if (literal.kind != python::CudaTextKind::kFileName || literal.function.empty()) continue;
    for (const uint32_t source : files_named(literal.text))
      named[literal.function].push_back(source);
  }
  if (named.empty()) return;
  for (uint32_t i = 0; i < python.functions.size(); ++i) {
    const python::Function& function = python.functions[i];
    const auto found = named.find(qualified_name(function));
    if (found == named.end()) continue;
    std::vector<uint32_t>& files = found->second;
    std::sort(files.begin(), files.end());
    files.erase(std::unique(files.begin(), files.end()), files.end());
    const bool exports = std::any_of(files.begin(), files.end(), [&](uint32_t source) {
      return !readings_.readings[source].usage.bindings.empty();
    });
    if (exports) sources_[{file, i}] = files;
  }
}

// Of several files with this end of their path, those nearest to the root.
std::vector<uint32_t> JitModules::files_named(std::string_view literal) const {
  std::vector<uint32_t> out;
  const auto found = files_by_name_.find(file_name(literal));
  if (found == files_by_name_.end()) return out;
  const auto depth = [this](uint32_t file) {
    const std::string& path = readings_.files[file].path;
    return std::count(path.begin(), path.end(), '/');
  };
  for (const uint32_t file : found->second) {
    if (!ends_with_path(readings_.files[file].path, literal)) continue;
    if (!out.empty() && depth(file) > depth(out[0])) continue;
    if (!out.empty() && depth(file) < depth(out[0])) out.clear();
    out.push_back(file);
  }
  return out;
}

void JitModules::find_handing_on() {
  if (sources_.empty()) return;
  std::set<std::string_view> known;
  for (const auto& [function, _] : sources_)
    known.insert(readings_.readings[function.file].python.functions[function.index].name);
  for (int hop = 0; hop < kMaxHandOvers; ++hop) {
    const size_t before = handing_on_.size();
    for (const FileReading& reading : readings_.readings) {
      for (const python::ValueFlow& flow : reading.python.flows) {
        if (flow.kind != python::FlowKind::kReturn || flow.function == UINT32_MAX) continue;
        const std::string_view called = first_called(flow.value);
        if (known.contains(called) || handing_on_.contains(called))
          handing_on_.insert(reading.python.functions[flow.function].name);
      }
    }
    if (handing_on_.size() == before) break;
  }
}

const std::vector<uint32_t>& JitModules::sources_of(const PythonRef& function) const {
  return value_or_empty(sources_, function);
}

std::vector<BoundFunction> JitModules::exported(const PythonRef& function,
                                                std::string_view name) const {
  std::vector<BoundFunction> out;
  for (const uint32_t file : sources_of(function)) {
    for (const cpp::Binding& binding : readings_.readings[file].usage.bindings) {
      if (binding.exported == name) out.push_back({&binding, file});
    }
  }
  return out;
}

std::vector<PythonRef> JitModules::builders_of(uint32_t cpp_file) const {
  return value_or_empty(builders_, cpp_file);
}

size_t JitModules::files_exporting(std::string_view name) const {
  return value_or_empty(files_exporting_, name);
}

}  // namespace fathom
