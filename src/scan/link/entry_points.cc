#include "scan/link/entry_points.h"

#include <algorithm>
#include <tuple>

#include "scan/facts/code_names.h"
#include "scan/link/code_purpose.h"

namespace fathom {
namespace {

bool has_folder(std::string_view path, std::initializer_list<std::string_view> names) {
  size_t at = 0;
  for (size_t slash; (slash = path.find('/', at)) != std::string_view::npos; at = slash + 1) {
    const std::string_view folder = path.substr(at, slash - at);
    if (std::find(names.begin(), names.end(), folder) != names.end()) return true;
  }
  return false;
}

bool is_test(std::string_view path) {
  const std::string_view name = file_name(path);
  return name.starts_with("test_") || name.ends_with("_test.py") || name.ends_with("_test.cc") ||
         name.ends_with("_test.cu") || has_folder(path, {"test", "tests"});
}

// What a program is for, by the folder that it lies in.
EntryKind purpose(std::string_view path, EntryKind otherwise) {
  if (is_test(path)) return EntryKind::kTest;
  const std::string_view name = file_name(path);
  if (has_folder(path, {"bench", "benchmark", "benchmarks"}) || name.starts_with("bench")) {
    return EntryKind::kBenchmark;
  }
  if (has_folder(path, {"example", "examples", "demo", "demos", "samples"}))
    return EntryKind::kExample;
  return otherwise;
}

class EntryPointLinker {
 public:
  explicit EntryPointLinker(const Readings& readings) : readings_(readings) {}

  std::vector<EntryPoint> run() {
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      if (readings_.files[file].origin != Origin::kOwn) continue;
      python_file(file);
      cpp_file(file);
    }
    std::sort(out_.begin(), out_.end(), [](const EntryPoint& a, const EntryPoint& b) {
      return std::tie(a.at, a.kind, a.name) < std::tie(b.at, b.kind, b.name);
    });
    return std::move(out_);
  }

 private:
  void python_file(uint32_t file) {
    const std::string& path = readings_.files[file].path;
    const python::PythonFile& python = readings_.readings[file].python;
    if (file_name(path) == "__main__.py") {
      std::string package(folder_of_path(import_path(path)));
      std::replace(package.begin(), package.end(), '/', '.');
      if (package.empty()) package = "__main__";
      add({EntryKind::kMain, package, "", "python -m " + package, {file, 1}, Certainty::kCertain});
    } else if (python.main_guard) {
      add({purpose(path, EntryKind::kMain),
           path,
           "",
           "python " + path,
           {file, *python.main_guard},
           Certainty::kCertain});
    } else if (is_test(path)) {
      tests(file, path, python);
    }
    for (const python::Route& route : python.routes) {
      add({EntryKind::kHttpRoute,
           route.method + " " + route.path,
           route.function,
           "",
           {file, route.line},
           Certainty::kCertain});
    }
    for (const python::Function& function : python.functions) command(file, function);
  }

  void tests(uint32_t file, const std::string& path, const python::PythonFile& python) {
    for (const python::Function& function : python.functions) {
      if (!function.name.starts_with("test_")) continue;
      add({EntryKind::kTest,
           path,
           "",
           "python -m pytest " + path,
           {file, function.line_name},
           Certainty::kCertain});
      return;  // one for the file
    }
  }

  // @app.command() of click and typer
  void command(uint32_t file, const python::Function& function) {
    for (const std::string& decorator : function.decorators) {
      const std::string callee = decorator.substr(0, decorator.find('('));
      if (callee != "click.command" && !callee.ends_with(".command")) continue;
      add({EntryKind::kCommand,
           function.name,
           function.name,
           "",
           {file, function.line_name},
           Certainty::kLikely});
    }
  }

  void cpp_file(uint32_t file) {
    const std::string& path = readings_.files[file].path;
    for (const cpp::Function& function : readings_.readings[file].cpp.functions) {
      if (function.name != "main" || !function.scope.empty() || !function.defined) continue;
      add({purpose(path, EntryKind::kCppMain),
           path,
           "main",
           "",
           {file, function.line_name},
           Certainty::kCertain});
      return;  // a second one stands behind an #if
    }
  }

  void add(EntryPoint entry) { out_.push_back(std::move(entry)); }

  const Readings& readings_;
  std::vector<EntryPoint> out_;
};

}  // namespace

std::vector<EntryPoint> link_entry_points(const Readings& readings) {
  return EntryPointLinker(readings).run();
}

}  // namespace fathom
