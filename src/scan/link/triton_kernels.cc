#include "scan/link/triton_kernels.h"

#include <algorithm>
#include <map>
#include <set>

#include "scan/link/evidence.h"

namespace fathom {
namespace {

std::string_view last_part(std::string_view dotted) {
  const size_t dot = dotted.rfind('.');
  return dot == std::string_view::npos ? dotted : dotted.substr(dot + 1);
}

std::string_view callee_of(std::string_view decorator) {
  return decorator.substr(0, std::min(decorator.find('('), decorator.size()));
}

struct Jitted {
  uint32_t file;
  size_t function;
  cpp::PatternScope scope;
  std::vector<KernelLauncher> launchers;
  bool called = false;  // by another device function
};

bool is_triton(const Jitted& jitted) { return jitted.scope == cpp::PatternScope::kTriton; }

class TritonLinker {
 public:
  TritonLinker(const Readings& readings, const PythonNames& names)
      : readings_(readings), names_(names) {}

  std::vector<KernelFacts> run() {
    collect();
    for (const FileReading& reading : readings_.readings) {
      named_.insert(reading.python.names_used.begin(), reading.python.names_used.end());
    }
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      const python::PythonFile& python = readings_.readings[file].python;
      for (const python::Launch& launch : python.launches) attach(launch, file);
      for (const python::Function& function : python.functions) note_calls(function, file);
    }
    std::vector<KernelFacts> out;
    for (Jitted& jitted : jitted_) {
      if (is_triton(jitted) && jitted.launchers.empty() && jitted.called) continue;
      out.push_back(facts_of(jitted));
    }
    return out;
  }

 private:
  void collect() {
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      const python::PythonFile& python = readings_.readings[file].python;
      for (size_t i = 0; i < python.functions.size(); ++i) {
        const auto scope = python_kernel_scope(python.functions[i], python);
        if (!scope) continue;
        by_name_[python.functions[i].name].push_back(jitted_.size());
        jitted_.push_back({file, i, *scope, {}});
      }
    }
  }

  // What a name written in a file means among the marked functions: by its imports, else the method
  // of the class around, else in its own file, else whatever has that name.
  std::vector<size_t> candidates(std::string_view written, uint32_t file,
                                 std::string_view around) const {
    const auto found = by_name_.find(last_part(written));
    if (found == by_name_.end()) return {};
    const auto resolved = names_.resolve(written, file);
    std::vector<size_t> same_class, same_file;
    for (const size_t i : found->second) {
      const Jitted& jitted = jitted_[i];
      if (resolved && resolved->kind == PythonName::Kind::kFunction &&
          resolved->file == jitted.file && resolved->index == jitted.function) {
        return {i};
      }
      if (jitted.file != file) continue;
      same_file.push_back(i);
      const std::string& scope = readings_.readings[file].python.functions[jitted.function].scope;
      if (written.starts_with("self.") && around.starts_with(scope + ".")) same_class.push_back(i);
    }
    if (!same_class.empty()) return same_class;
    return same_file.empty() ? found->second : same_file;
  }

  void attach(const python::Launch& launch, uint32_t file) {
    std::set<size_t> meant;
    const std::vector<std::string> own = {launch.kernel};
    for (const std::string& written : launch.kernels.empty() ? own : launch.kernels) {
      const auto found = candidates(written, file, launch.function);
      meant.insert(found.begin(), found.end());
    }
    for (const size_t i : meant) {
      KernelLauncher launcher = launcher_of(launch, file);
      launcher.via = is_triton(jitted_[i]) ? "kernel[grid]" : "launch(grid=…)";
      launcher.certainty = meant.size() == 1 ? Certainty::kCertain : Certainty::kUnsure;
      jitted_[i].launchers.push_back(std::move(launcher));
    }
  }

  static KernelLauncher launcher_of(const python::Launch& launch, uint32_t file) {
    KernelLauncher launcher;
    launcher.at = {file, launch.line_first};
    launcher.line_last = launch.line_last;
    launcher.function = launch.function;
    launcher.grid = launch.grid_value.empty() ? launch.grid : launch.grid_value;
    launcher.block = launch.block;
    launcher.shared_memory = launch.shared_memory;
    launcher.stream = launch.stream;
    if (!launch.cluster.empty()) launcher.attributes.push_back("cluster " + launch.cluster);
    for (const python::Argument& argument : launch.arguments) {
      if (argument.name == "num_warps") launcher.block = "32 * " + argument.text;
      if (argument.name == "num_stages" || argument.name == "launch_pdl") {
        launcher.attributes.push_back(argument.name + " " + argument.text);
      }
    }
    for (const python::Argument& attribute : launch.attributes) {
      launcher.attributes.push_back(attribute.name + " " + attribute.text);
    }
    return launcher;
  }

  void note_calls(const python::Function& function, uint32_t file) {
    const bool on_device =
        python_kernel_scope(function, readings_.readings[file].python).has_value();
    for (const python::Call& call : function.calls) {
      if (call.callee.find('[') != std::string::npos) continue;
      if (!by_name_.contains(last_part(call.callee))) continue;
      for (const size_t i : candidates(call.callee, file, function.scope)) {
        if (on_device) jitted_[i].called = true;
      }
    }
  }

  KernelFacts facts_of(Jitted& jitted) const {
    const python::Function& function =
        readings_.readings[jitted.file].python.functions[jitted.function];
    KernelFacts kernel;
    kernel.name = function.name;
    kernel.scope = names_.module_of(jitted.file);
    if (!function.scope.empty()) kernel.scope += "." + function.scope;
    kernel.kind = is_triton(jitted) ? KernelKind::kTriton : KernelKind::kCute;
    kernel.at = {jitted.file, function.line_first};
    kernel.line_name = function.line_name;
    kernel.line_last = function.line_last;
    for (const python::Argument& parameter : function.parameters) {
      if (!kernel.parameters.empty()) kernel.parameters += ", ";
      kernel.parameters += parameter.name;
    }
    kernel.attributes = function.decorators;
    kernel.launchers = std::move(jitted.launchers);
    kernel.dead = kernel.launchers.empty() && !named_.contains(function.name);
    for (const cpp::PatternHit& hit :
         readings_.readings[jitted.file].python_patterns[jitted.function]) {
      kernel.evidence.push_back(evidence_of(hit, jitted.file, function.name));
    }
    return kernel;
  }

  const Readings& readings_;
  const PythonNames& names_;
  std::vector<Jitted> jitted_;
  std::set<std::string_view> named_;  // everything that some code uses
  std::map<std::string, std::vector<size_t>, std::less<>> by_name_;
};

}  // namespace

std::optional<cpp::PatternScope> python_kernel_scope(const python::Function& function,
                                                     const python::PythonFile& file) {
  for (const std::string& decorator : function.decorators) {
    const std::string_view callee = callee_of(decorator);
    if (callee == "triton.jit" || callee == "gluon.jit") return cpp::PatternScope::kTriton;
    if (callee == "cute.kernel" || callee == "ct.kernel") return cpp::PatternScope::kCute;
    if (callee != "jit" && callee != "kernel") continue;
    for (const python::Import& import : file.imports) {
      if (import.bound_to != callee) continue;
      if (import.module.starts_with("triton")) return cpp::PatternScope::kTriton;
      if (import.module.starts_with("cutlass") || import.module.starts_with("cuda.tile")) {
        return cpp::PatternScope::kCute;
      }
    }
  }
  return std::nullopt;
}

std::vector<KernelFacts> triton_kernels(const Readings& readings, const PythonNames& names) {
  return TritonLinker(readings, names).run();
}

}  // namespace fathom
