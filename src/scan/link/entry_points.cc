#include "scan/link/entry_points.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "scan/facts/code_names.h"
#include "scan/facts/text_lines.h"
#include "scan/files/code_purpose.h"

namespace fathom {
namespace {

// What a program is for, by where it lies.
EntryKind purpose(std::string_view path, EntryKind otherwise) {
  switch (purpose_of(path)) {
    case CodePurpose::kTest:
      return EntryKind::kTest;
    case CodePurpose::kBenchmark:
      return EntryKind::kBenchmark;
    case CodePurpose::kExample:
      return EntryKind::kExample;
    default:
      if (file_name(path).starts_with("bench")) return EntryKind::kBenchmark;
      // Packages are called so, too, but few programs in them are more.
      return path.starts_with("demo/") || holds(path, "/demo/") ? EntryKind::kExample : otherwise;
  }
}

class EntryPointLinker {
 public:
  explicit EntryPointLinker(const Readings& readings) : readings_(readings) {}

  std::vector<EntryPoint> run() {
    for (const FileReading& one : readings_.readings) {
      for (const python::Import& import : one.python.imports) {
        imported_.insert(last_part(import.module));
        imported_.insert(import.name);
      }
    }
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      if (readings_.files[file].origin != Origin::kOwn) continue;
      python_file(file);
      cpp_file(file);
      if (readings_.files[file].language == Language::kRust) rust_file(file);
      if (readings_.files[file].language == Language::kGo) go_file(file);
      if (readings_.files[file].language == Language::kZig) zig_file(file);
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
      add(EntryKind::kMain, package, "python -m " + package, {file, 1});
    } else if (const auto line = begins_at(path, python)) {
      add(purpose(path, EntryKind::kMain), path, "python " + path, {file, *line});
    } else if (is_test_path(path)) {
      tests(file, path, python);
    }
    for (const python::Route& route : python.routes) {
      add(EntryKind::kHttpRoute, route.method + " " + route.path, "", {file, route.line},
          route.function);
    }
    for (const python::Function& function : python.functions) command(file, function);
  }

  // What runs only as a program, or reads the command line as soon as it runs and is imported by
  // nobody.
  std::optional<uint32_t> begins_at(std::string_view path, const python::PythonFile& python) const {
    if (python.main_guard) return python.main_guard;
    std::string_view name = file_name(path);
    name.remove_suffix(std::min<size_t>(3, name.size()));
    if (imported_.contains(name)) return std::nullopt;
    for (const python::Call& call : python.module_calls) {
      const std::string_view called = last_part(call.callee);
      if (called == "parse_args" || called == "parse_known_args") return call.line_first;
    }
    return std::nullopt;
  }

  void tests(uint32_t file, const std::string& path, const python::PythonFile& python) {
    for (const python::Function& function : python.functions) {
      if (!function.name.starts_with("test_")) continue;
      add(EntryKind::kTest, path, "python -m pytest " + path, {file, function.line_name});
      return;  // one for the file
    }
  }

  // @app.command() of click and typer
  void command(uint32_t file, const python::Function& function) {
    for (const std::string& decorator : function.decorators) {
      const std::string callee = decorator.substr(0, decorator.find('('));
      if (callee != "click.command" && !callee.ends_with(".command")) continue;
      add(EntryKind::kCommand, function.name, "", {file, function.line_name}, function.name,
          Certainty::kLikely);
    }
  }

  void cpp_file(uint32_t file) {
    const std::string& path = readings_.files[file].path;
    for (const cpp::Function& function : readings_.readings[file].cpp.functions) {
      // extern "C" makes it the program's own, whatever namespace it stands in.
      const bool of_c = contains(function.attributes, "extern \"C\"");
      if (!is_main(function.name) || !(function.scope.empty() || of_c) || !function.defined)
        continue;
      add(purpose(path, EntryKind::kCppMain), path, "", {file, function.line_name}, "main");
      return;  // a second one stands behind an #if
    }
  }

  // go run ./folder: all files of a folder are one program.
  void go_file(uint32_t file) {
    const uint32_t line = readings_.readings[file].host_main;
    const std::string& path = readings_.files[file].path;
    if (line == 0) return;
    add(purpose(path, EntryKind::kConsoleScript), path,
        "go run ./" + std::string(folder_of_path(path)), {file, line});
  }

  void zig_file(uint32_t file) {
    const uint32_t line = readings_.readings[file].host_main;
    const std::string& path = readings_.files[file].path;
    if (line == 0 || file_name(path) == "build.zig") return;
    add(purpose(path, EntryKind::kConsoleScript), path, "", {file, line});
  }

  // What cargo builds into a program, by where it lies: src/main.rs, src/bin, examples, benches.
  void rust_file(uint32_t file) {
    const uint32_t line = readings_.readings[file].host_main;
    const std::string& path = readings_.files[file].path;
    if (line == 0 || file_name(path) == "build.rs") return;
    std::string_view folder = folder_of_path(path);
    std::string name(file_name(path).substr(0, file_name(path).size() - 3));
    if (name == "main" && folder.ends_with("src")) {
      folder.remove_suffix(3);
      add_cargo(file, folder, "", line);
      return;
    }
    if (name == "main") {  // examples/NAME/main.rs
      name = file_name(folder);
      folder = folder_of_path(folder);
    }
    struct Place {
      std::string_view folder, option;
    };
    for (const Place& place : {Place{"src/bin", " --bin "}, Place{"examples", " --example "}}) {
      if (!folder.ends_with(place.folder)) continue;
      folder.remove_suffix(place.folder.size());
      return add_cargo(file, folder, std::string(place.option) + name, line);
    }
  }

  void add_cargo(uint32_t file, std::string_view crate, const std::string& which, uint32_t line) {
    const std::string& path = readings_.files[file].path;
    std::string command = "cargo run";
    if (!crate.empty()) command += " --manifest-path " + std::string(crate) + "Cargo.toml";
    add(purpose(path, EntryKind::kConsoleScript), path, command + which, {file, line});
  }

  void add(EntryKind kind, const std::string& name, const std::string& command, const CodePlace& at,
           const std::string& target = "", Certainty certainty = Certainty::kCertain) {
    out_.push_back({kind, name, target, command, at, certainty});
  }

  const Readings& readings_;
  std::set<std::string_view> imported_;  // last parts of modules, and names from them
  std::vector<EntryPoint> out_;
};

}  // namespace

std::vector<EntryPoint> link_entry_points(const Readings& readings) {
  return EntryPointLinker(readings).run();
}

}  // namespace fathom
