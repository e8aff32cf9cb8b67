#include "scan/link/python_kernels.h"

#include <algorithm>
#include <map>
#include <set>

#include "scan/facts/code_names.h"
#include "scan/facts/text_lines.h"
#include "scan/files/code_purpose.h"
#include "scan/link/evidence.h"
#include "scan/link/jitted_functions.h"
#include "scan/link/python_launch_values.h"

namespace fathom {
namespace {

// A launch that may mean more kernels than this means none of them.
constexpr size_t kMaxCandidates = 16;
constexpr size_t kMaxReached = 200;  // functions that one kernel calls, directly or not

// What writes to memory, or may; or what reads it.
bool is_access(std::string_view callee, bool reads_too) {
  const auto has = [name = last_part(callee)](std::string_view word) { return holds(name, word); };
  for (const std::string_view word : {"store", "atomic", "asm", "put", "copy", "scatter"}) {
    if (has(word)) return true;
  }
  return reads_too && (has("load") || has("gather"));
}

bool is_triton(const Jitted& jitted) { return jitted.told_as == KernelVoice::kTriton; }

class PythonKernelLinker {
 public:
  PythonKernelLinker(const Readings& readings, const PythonNames& names, const PythonTypes& types,
                     const FunctionPlaces& places, KernelGraph& graph)
      : readings_(readings),
        names_(names),
        types_(types),
        jitted_(readings, names, types),
        values_(readings, places),
        graph_(graph) {}

  void run() {
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      for (const python::Launch& launch : readings_.readings[file].python.launches) {
        if (launch.makes) collect_made(launch, file);
      }
    }
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      const python::PythonFile& python = readings_.readings[file].python;
      for (const python::Launch& launch : python.launches) attach(launch, file);
      for (const python::Function& function : python.functions) note_calls(function, file);
    }
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      for (const python::HandedName& handed : readings_.readings[file].python.handed)
        attach_handed(handed, file);
    }
    jitted_.add_calls_of_made();
    for (size_t i = 0; i < jitted_.size(); ++i) {
      if (!is_device_function(jitted_[i])) add(i);
    }
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      for (const python::NamedKernel& named : readings_.readings[file].python.named_kernels) {
        const KernelGraph::Kernel made = add(named, file);
        made_[{file, named.line_first}] = made;
        if (named.called)
          graph_.launch(
              made, launcher_at({file, named.line_first}, named.line_last, named.function, "call"));
      }
    }
    if (!made_.empty()) attach_called();
  }

 private:
  using Meant = JittedFunctions::Meant;

  // pl.pallas_call(f, …) makes a kernel of f and launches it.
  void collect_made(const python::Launch& launch, uint32_t file) {
    for (const std::string& written : launch.kernels) {
      const std::optional<PythonRef> function =
          names_.function_named(written, file, launch.function);
      if (!function) continue;
      const size_t made = jitted_.made_of(*function, *launch.makes);
      KernelLauncher launcher = launcher_of(launch, file);
      launcher.via = launch.via;
      if (launch.kernels.size() > 1) launcher.certainty = Certainty::kLikely;
      jitted_[made].launchers.push_back(std::move(launcher));
    }
  }

  // `triton.jit` marks what kernels call, too. What nothing launches is such a function where
  // another calls it, or where it touches no memory: a kernel without that does nothing. One that
  // reads and gives back what it computes is none, too: a kernel has nobody to give it to.
  bool is_device_function(const Jitted& jitted) const {
    if (!jitted.marks_helpers || !jitted.launchers.empty()) return false;
    return jitted.called || !accesses_memory(jitted, !jitted_.function_of(jitted).gives_back);
  }

  // Itself or through what it calls. With very many functions to look at it is taken to.
  bool accesses_memory(const Jitted& jitted, bool reads_too) const {
    std::set<size_t> seen;
    std::vector<const Jitted*> left = {&jitted};
    while (!left.empty()) {
      const Jitted& at = *left.back();
      left.pop_back();
      const python::Function& function = jitted_.function_of(at);
      for (const python::Call& call : function.calls) {
        if (is_access(call.callee, reads_too) || seen.size() >= kMaxReached) return true;
        for (const Meant& one :
             jitted_.candidates(call.callee, at.file, qualified_name(function))) {
          if (seen.insert(one.kernel).second) left.push_back(&jitted_[one.kernel]);
        }
      }
    }
    return false;
  }

  void attach(const python::Launch& launch, uint32_t file) {
    if (launch.makes) return;  // collect_made did
    if (is_bound(launch.kernel, launch.function, file)) {
      note_parameter(launch, file);
      return;
    }
    std::map<size_t, Certainty> meant;
    const std::vector<std::string> own = {launch.kernel};
    for (const std::string& written : launch.kernels.empty() ? own : launch.kernels) {
      for (const Meant& one : jitted_.launched(written, launch, file)) {
        if (can_launch(launch.kind, jitted_[one.kernel])) meant.emplace(one.kernel, one.certainty);
      }
    }
    if (meant.empty() && !note_parameter(launch, file) && !launch.wrapped.empty()) {
      // trace(kernel)[grid](…): what is made of a kernel runs it.
      for (const Meant& one : jitted_.candidates(launch.wrapped, file, launch.function)) {
        if (can_launch(launch.kind, jitted_[one.kernel]))
          meant.emplace(one.kernel, std::max(one.certainty, Certainty::kLikely));
      }
    }
    // More than a dispatch has are the values of a table of everything.
    if (meant.size() > kMaxCandidates) return;
    for (const auto& [i, certainty] : meant) {
      KernelLauncher launcher = launcher_of(launch, file);
      if (is_triton(jitted_[i]))
        values_.add_arguments(launch, jitted_.function_of(jitted_[i]), launcher);
      launcher.via = via_of(launch, jitted_[i]);
      if (jitted_[i].kind == KernelKind::kNumba || jitted_[i].kind == KernelKind::kCupy)
        split_configuration(launcher);
      // Which of several it is, the program decides.
      const Certainty several = meant.size() == 1 ? Certainty::kCertain : Certainty::kLikely;
      launcher.certainty = std::max(certainty, several);
      const bool made = !jitted_.function_of(jitted_[i]).scope.empty() && jitted_[i].file != file;
      if (made) launcher.certainty = std::max(launcher.certainty, Certainty::kLikely);
      jitted_[i].launchers.push_back(std::move(launcher));
    }
  }

  // A parameter or a loop's variable, which no kernel of the file is.
  bool is_bound(std::string_view name, std::string_view function, uint32_t file) const {
    const auto around = types_.names().find_function(file, std::string(function));
    if (!around || holds(name, '.')) return false;
    const auto& parameters = types_.classes().function(*around).parameters;
    if (std::ranges::find(parameters, name, &python::Argument::name) != parameters.end())
      return true;
    return std::ranges::any_of(types_.classes().flows_in(*around), [name](const auto& flow) {
      return flow.kind == python::FlowKind::kLoop && flow.target == name;
    });
  }

  // def launch(kernel, grid, x): kernel[grid](x): what is handed to it is launched. Whether it is
  // so.
  bool note_parameter(const python::Launch& launch, uint32_t file) {
    const auto around = types_.names().find_function(file, launch.function);
    if (!around) return false;
    const std::vector<python::Argument>& parameters = types_.classes().function(*around).parameters;
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].name != launch.kernel && parameters[i].name != launch.wrapped) continue;
      launching_.emplace(*around, LaunchedArgument{i, &launch});
      return true;
    }
    return false;
  }

  void attach_handed(const python::HandedName& handed, uint32_t file) {
    if (!jitted_.has_name(last_part(handed.name))) return;
    const auto around = types_.names().find_function(file, handed.function);
    const bool on_device = around && types_.classes().function(*around).kernel.has_value();
    if (!on_device && !is_test_path(readings_.files[file].path)) {
      const std::string by = std::string(last_part(handed.callee)) + ", which is handed it";
      for (const Meant& one : jitted_.candidates(handed.name, file, handed.function))
        handed_.try_emplace(one.kernel, CodePlace{file, handed.line_first}, by);
    }
    if (launching_.empty()) return;
    for (const PythonValue& value :
         types_.evaluate(handed.callee, file, around ? around->index : kPythonModuleLevel)) {
      if (value.kind != PythonValue::Kind::kFunction) continue;
      const auto launching = launching_.find(value.ref);
      if (launching == launching_.end()) continue;
      const python::Function& callee = types_.classes().function(value.ref);
      const auto& [parameter, launch] = launching->second;
      const bool bound = !callee.scope.empty() && !callee.parameters.empty() &&
                         callee.parameters[0].name == "self";
      const bool given = handed.keyword.empty()
                             ? handed.position + (bound ? 1 : 0) == parameter
                             : handed.keyword == callee.parameters[parameter].name;
      if (!given) continue;
      for (const Meant& one : jitted_.candidates(handed.name, file, handed.function)) {
        if (!can_launch(launch->kind, jitted_[one.kernel])) continue;
        jitted_[one.kernel].launchers.push_back(
            launcher_at({file, handed.line_first}, handed.line_last, handed.function, callee.name,
                        std::max(one.certainty, value.certainty)));
      }
    }
  }

  static bool can_launch(python::LaunchKind kind, const Jitted& jitted) {
    if (kind == python::LaunchKind::kApi) return jitted.form != LaunchForm::kChain;
    if (kind == python::LaunchKind::kSubscript) return jitted.form == LaunchForm::kSubscript;
    return jitted.form == LaunchForm::kChain;
  }

  static std::string via_of(const python::Launch& launch, const Jitted& jitted) {
    if (launch.kind == python::LaunchKind::kApi) return launch.via;
    return jitted.form == LaunchForm::kSubscript ? "kernel[grid]" : "launch(grid=…)";
  }

  // kernel[blocks, threads, stream, shared](…)
  static void split_configuration(KernelLauncher& launcher) {
    std::string_view written = launcher.grid;
    if (written.starts_with('(') && written.ends_with(')'))
      written = written.substr(1, written.size() - 2);
    std::vector<std::string> parts;
    for (const std::string_view part : split_list(written, false)) parts.emplace_back(part);
    if (parts.size() < 2) return;
    launcher.grid = parts[0];
    launcher.block = parts[1];
    if (parts.size() > 2) launcher.stream = parts[2];
    if (parts.size() > 3) launcher.shared_memory = parts[3];
  }

  static LaunchAttribute other_attribute(const python::Argument& written) {
    return {LaunchAttribute::Kind::kOther, written.name + " " + written.text, ""};
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
    if (!launch.cluster.empty())
      launcher.attributes.push_back({LaunchAttribute::Kind::kCluster, launch.cluster, ""});
    for (const python::Argument& argument : launch.arguments) {
      if (argument.name == "num_warps") {
        const bool is_one = argument.text.find_first_of(" +-*/%<>&|?") == std::string::npos;
        launcher.block = is_one ? "32 * " + argument.text : "32 * (" + argument.text + ")";
      }
      if (argument.name == "num_stages" || argument.name == "launch_pdl") {
        launcher.attributes.push_back(other_attribute(argument));
      }
    }
    for (const python::Argument& attribute : launch.attributes) {
      launcher.attributes.push_back(other_attribute(attribute));
    }
    return launcher;
  }

  void note_calls(const python::Function& function, uint32_t file) {
    const bool on_device = function.kernel.has_value();
    for (const python::Call& call : function.calls) {
      if (holds(call.callee, '[')) continue;
      if (!jitted_.has_name(last_part(call.callee))) continue;
      const std::vector<Meant> meant =
          jitted_.candidates(call.callee, file, qualified_name(function));
      for (const Meant& one : meant) {
        if (on_device) jitted_[one.kernel].called = true;
      }
      // Calling such a kernel is launching it.
      if (on_device || meant.size() != 1) continue;
      if (jitted_[meant[0].kernel].form == LaunchForm::kCall)
        note_launch(function, call, file, meant[0].kernel);
    }
  }

  void note_launch(const python::Function& function, const python::Call& call, uint32_t file,
                   size_t kernel) {
    // A method of that name may be another's.
    const auto resolved = names_.resolve(call.callee, file);
    if (!resolved || resolved->file != jitted_[kernel].file ||
        resolved->index != jitted_[kernel].function)
      return;
    jitted_[kernel].launchers.push_back(
        launcher_at({file, call.line_first}, call.line_last, qualified_name(function), "call"));
  }

  void add(size_t number) {
    Jitted& jitted = jitted_[number];
    const python::Function& function = jitted_.function_of(jitted);
    KernelFacts kernel;
    kernel.name = function.name;
    // What writes C++ puts the kernel into a scope of its own.
    if (is_python_kernel(jitted.kind)) {
      kernel.scope = names_.module_of(jitted.file);
      if (!function.scope.empty()) kernel.scope += "." + function.scope;
    }
    kernel.kind = jitted.kind;
    kernel.body_read = jitted.told_as != KernelVoice::kNone;
    kernel.at = {jitted.file, function.line_first};
    kernel.line_name = function.line_name;
    kernel.line_last = function.line_last;
    for (const python::Argument& parameter : function.parameters) {
      if (!kernel.parameters.empty()) kernel.parameters += ", ";
      kernel.parameters += parameter.name;
    }
    kernel.attributes = function.decorators;
    if (function.kernel && !function.kernel->configuration.empty())
      kernel.attributes.push_back(function.kernel->configuration);
    std::set<size_t> seen = {number};
    add_evidence(jitted, Certainty::kCertain, 0, seen, kernel.evidence);
    add_accesses(jitted, kernel);
    // What a compiler of the program is handed is launched in ways that are not followed.
    const bool followed = jitted.form != LaunchForm::kMade;
    const KernelGraph::Kernel id = graph_.add(KernelFamily::kPython, std::move(kernel), followed);
    const auto handed = handed_.find(number);
    if (jitted.launchers.empty() && handed != handed_.end())
      graph_.take(id, handed->second.first, handed->second.second);
    for (KernelLauncher& launcher : jitted.launchers) graph_.launch(id, std::move(launcher));
  }

  // kernel(x, y): calling what a library made of a text launches it, wherever it was made.
  void attach_called() {
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      const std::vector<python::Function>& functions = readings_.readings[file].python.functions;
      for (uint32_t i = 0; i < functions.size(); ++i) {
        for (const python::Call& call : functions[i].calls) {
          PythonValues meant = types_.evaluate(call.callee, file, i);
          std::erase_if(
              meant, [](const PythonValue& one) { return one.kind != PythonValue::Kind::kKernel; });
          for (const PythonValue& value : meant) {
            const auto kernel = made_.find({value.ref.file, value.ref.index});
            if (kernel == made_.end()) continue;
            const Certainty several = meant.size() == 1 ? Certainty::kCertain : Certainty::kLikely;
            graph_.launch(kernel->second, launcher_at({file, call.line_first}, call.line_last,
                                                      qualified_name(functions[i]), "call",
                                                      std::max(value.certainty, several)));
          }
        }
      }
    }
  }

  // A kernel that a call makes of a text.
  KernelGraph::Kernel add(const python::NamedKernel& named, uint32_t file) {
    KernelFacts kernel;
    kernel.name = named.name;
    if (is_python_kernel(named.kind)) kernel.scope = names_.module_of(file);
    kernel.kind = named.kind;
    kernel.body_read = false;
    kernel.at = {file, named.line_first};
    kernel.line_name = named.line_first;
    kernel.line_last = named.line_last;
    return graph_.add(KernelFamily::kPython, std::move(kernel), false);
  }

  // What a kernel does itself, then what the functions do that it calls; each thing once.
  void add_evidence(const Jitted& jitted, Certainty certainty, int depth, std::set<size_t>& seen,
                    std::vector<CodeEvidence>& out) const {
    constexpr int kDeepest = 4;
    const python::Function& function = jitted_.function_of(jitted);
    for (const cpp::PatternHit& hit :
         readings_.readings[jitted.file].python_patterns[jitted.function]) {
      CodeEvidence evidence = evidence_of(hit, jitted.file, function.name);
      evidence.certainty = std::max(evidence.certainty, certainty);
      const bool known = depth > 0 && std::any_of(out.begin(), out.end(), [&](const auto& one) {
                           return one.what == evidence.what && one.detail == evidence.detail;
                         });
      if (!known) out.push_back(std::move(evidence));
    }
    if (!is_triton(jitted) || depth == kDeepest) return;
    for (const python::Call& call : function.calls) {
      if (seen.size() >= kMaxReached) return;
      const std::vector<Meant> meant =
          jitted_.candidates(call.callee, jitted.file, qualified_name(function));
      if (meant.size() > kMaxCandidates) continue;
      for (const Meant& one : meant) {
        if (!is_triton(jitted_[one.kernel]) || !seen.insert(one.kernel).second) continue;
        add_evidence(jitted_[one.kernel], meant.size() == 1 ? certainty : Certainty::kUnsure,
                     depth + 1, seen, out);
      }
    }
  }

  void add_accesses(const Jitted& jitted, KernelFacts& kernel) const {
    const auto& walked = readings_.readings[jitted.file].triton_accesses;
    const auto found = walked.find(jitted.function);
    if (found == walked.end()) return;
    kernel.accesses = found->second.accesses;
    kernel.traffic = found->second.traffic;
    kernel.arithmetic = found->second.arithmetic;
    kernel.unresolved = found->second.unresolved;
    for (UnresolvedAccess& access : kernel.unresolved) access.at.file = jitted.file;
    for (ArrayAccess& access : kernel.accesses) access.at.file = jitted.file;
    for (ArrayTraffic& traffic : kernel.traffic) traffic.at.file = jitted.file;
  }

  const Readings& readings_;
  const PythonNames& names_;
  const PythonTypes& types_;
  JittedFunctions jitted_;
  const PythonLaunchValues values_;
  KernelGraph& graph_;
  // Functions that launch a parameter of theirs.
  struct LaunchedArgument {
    size_t parameter;
    const python::Launch* launch;
  };
  std::map<PythonRef, LaunchedArgument> launching_;
  // Who is first handed a kernel, by its number: of those that nothing is seen to launch.
  std::map<size_t, std::pair<CodePlace, std::string>> handed_;
  // Kernels made of texts, by file and line.
  std::map<std::pair<uint32_t, uint32_t>, KernelGraph::Kernel> made_;
};

}  // namespace

void add_python_kernels(const Readings& readings, const PythonNames& names,
                        const PythonTypes& types, const FunctionPlaces& places,
                        KernelGraph& graph) {
  PythonKernelLinker(readings, names, types, places, graph).run();
}

}  // namespace fathom
