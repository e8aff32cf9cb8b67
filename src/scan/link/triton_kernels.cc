#include "scan/link/triton_kernels.h"

#include <algorithm>
#include <map>
#include <set>

namespace fathom {
namespace {

std::string_view last_part(std::string_view dotted) {
  const size_t dot = dotted.rfind('.');
  return dot == std::string_view::npos ? dotted : dotted.substr(dot + 1);
}

std::string_view callee_of(std::string_view decorator) {
  return decorator.substr(0, std::min(decorator.find('('), decorator.size()));
}

enum class Mark : uint8_t { kNone, kTriton, kCute };

// What a function's decorators make of it.
Mark mark_of(const python::Function& function, const python::PythonFile& file) {
  for (const std::string& decorator : function.decorators) {
    const std::string_view callee = callee_of(decorator);
    if (callee == "triton.jit" || callee == "gluon.jit") return Mark::kTriton;
    if (callee == "cute.kernel" || callee == "ct.kernel") return Mark::kCute;
    if (callee != "jit") continue;
    for (const python::Import& import : file.imports) {
      if (import.bound_to == "jit" && import.module.starts_with("triton")) return Mark::kTriton;
    }
  }
  return Mark::kNone;
}

struct Jitted {
  uint32_t file;
  size_t function;
  Mark mark;
  std::vector<KernelLauncher> launchers;
  bool called = false;  // by another device function
};

class TritonLinker {
 public:
  TritonLinker(const Readings& readings, const PythonNames& names)
      : readings_(readings), names_(names) {}

  std::vector<KernelFacts> run() {
    collect();
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      const python::PythonFile& python = readings_.readings[file].python;
      for (const python::Launch& launch : python.launches) attach(launch, file);
      for (const python::Function& function : python.functions) note_calls(function, file);
    }
    std::vector<KernelFacts> out;
    for (Jitted& jitted : jitted_) {
      if (jitted.mark == Mark::kTriton && jitted.launchers.empty() && jitted.called) continue;
      out.push_back(facts_of(jitted));
    }
    return out;
  }

 private:
  void collect() {
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      const python::PythonFile& python = readings_.readings[file].python;
      for (size_t i = 0; i < python.functions.size(); ++i) {
        const Mark mark = mark_of(python.functions[i], python);
        if (mark == Mark::kNone) continue;
        by_name_[python.functions[i].name].push_back(jitted_.size());
        jitted_.push_back({file, i, mark, {}});
      }
    }
  }

  // What a name written in a file means among the marked functions: by its imports, else in its own
  // file, else whatever has that name.
  std::vector<size_t> candidates(std::string_view written, uint32_t file) const {
    const auto found = by_name_.find(last_part(written));
    if (found == by_name_.end()) return {};
    const auto resolved = names_.resolve(written, file);
    std::vector<size_t> same_file;
    for (const size_t i : found->second) {
      if (resolved && resolved->kind == PythonName::Kind::kFunction &&
          resolved->file == jitted_[i].file && resolved->index == jitted_[i].function) {
        return {i};
      }
      if (jitted_[i].file == file) same_file.push_back(i);
    }
    return same_file.empty() ? found->second : same_file;
  }

  void attach(const python::Launch& launch, uint32_t file) {
    const auto meant = candidates(launch.kernel, file);
    for (const size_t i : meant) {
      KernelLauncher launcher;
      launcher.at = {file, launch.line_first};
      launcher.line_last = launch.line_last;
      launcher.function = launch.function;
      launcher.via = jitted_[i].mark == Mark::kTriton ? "kernel[grid]" : "launch(grid=…)";
      launcher.grid = launch.grid;
      for (const python::Argument& argument : launch.arguments) {
        if (argument.name == "block") launcher.block = argument.text;
        if (argument.name == "smem") launcher.shared_memory = argument.text;
        if (argument.name == "stream") launcher.stream = argument.text;
        if (argument.name == "num_warps") launcher.block = "32 * " + argument.text;
        if (argument.name == "num_stages" || argument.name == "cluster" ||
            argument.name == "launch_pdl") {
          launcher.attributes.push_back(argument.name + " " + argument.text);
        }
      }
      launcher.certainty = meant.size() == 1 ? Certainty::kCertain : Certainty::kUnsure;
      jitted_[i].launchers.push_back(std::move(launcher));
    }
  }

  void note_calls(const python::Function& function, uint32_t file) {
    const bool on_device = mark_of(function, readings_.readings[file].python) != Mark::kNone;
    for (const python::Call& call : function.calls) {
      if (call.callee.find('[') != std::string::npos) continue;
      if (!by_name_.contains(last_part(call.callee))) continue;
      for (const size_t i : candidates(call.callee, file)) {
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
    kernel.kind = jitted.mark == Mark::kTriton ? KernelKind::kTriton : KernelKind::kCute;
    kernel.at = {jitted.file, function.line_first};
    kernel.line_name = function.line_name;
    kernel.line_last = function.line_last;
    for (const python::Argument& parameter : function.parameters) {
      if (!kernel.parameters.empty()) kernel.parameters += ", ";
      kernel.parameters += parameter.name;
    }
    kernel.attributes = function.decorators;
    kernel.launchers = std::move(jitted.launchers);
    kernel.dead = kernel.launchers.empty() && jitted.mark == Mark::kTriton;
    return kernel;
  }

  const Readings& readings_;
  const PythonNames& names_;
  std::vector<Jitted> jitted_;
  std::map<std::string, std::vector<size_t>, std::less<>> by_name_;
};

}  // namespace

std::vector<KernelFacts> triton_kernels(const Readings& readings, const PythonNames& names) {
  return TritonLinker(readings, names).run();
}

}  // namespace fathom
