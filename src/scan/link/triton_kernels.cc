#include "scan/link/triton_kernels.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "scan/facts/code_names.h"
#include "scan/link/evidence.h"

namespace fathom {
namespace {

// A launch that may mean more kernels than this means none of them.
constexpr size_t kMaxCandidates = 16;
constexpr size_t kMaxReached = 200;  // functions that one kernel calls, directly or not

struct Jitted {
  uint32_t file;
  size_t function;
  KernelKind kind;
  KernelVoice told_as;
  LaunchForm form;
  bool marks_helpers;  // its decorator marks what kernels call, too
  std::vector<KernelLauncher> launchers;
  bool called = false;  // by another device function
};

// What writes to memory, or may: a function that does none of it gives its result back to a caller.
bool is_store(std::string_view callee) {
  for (const std::string_view word : {"store", "atomic", "asm", "put", "copy", "scatter"}) {
    if (last_part(callee).find(word) != std::string_view::npos) return true;
  }
  return false;
}

bool is_triton(const Jitted& jitted) { return jitted.told_as == KernelVoice::kTriton; }

// "a, b" of k[a, b]: the parts between commas outside brackets.
std::vector<std::string> parts_of(std::string_view list) {
  if (list.starts_with('(') && list.ends_with(')')) list = list.substr(1, list.size() - 2);
  std::vector<std::string> out(1);
  int depth = 0;
  for (const char c : list) {
    depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
    if (c == ',' && depth == 0) {
      out.emplace_back();
    } else if (c != ' ' || !out.back().empty()) {
      out.back() += c;
    }
  }
  return out;
}

class TritonLinker {
 public:
  TritonLinker(const Readings& readings, const PythonNames& names, const PythonTypes& types)
      : readings_(readings), names_(names), types_(types) {}

  std::vector<KernelFacts> run() {
    collect();
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
    std::vector<KernelFacts> out;
    for (Jitted& jitted : jitted_) {
      if (is_device_function(jitted)) continue;
      out.push_back(facts_of(jitted));
    }
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      for (const python::NamedKernel& named : readings_.readings[file].python.named_kernels)
        out.push_back(facts_of(named, file));
    }
    return out;
  }

 private:
  using InnerFunctions = std::unordered_map<std::string, uint32_t>;

  void collect() {
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      const python::PythonFile& python = readings_.readings[file].python;
      names_used_.insert(python.names_used.begin(), python.names_used.end());
      for (size_t i = 0; i < python.functions.size(); ++i) {
        const auto& mark = python.functions[i].kernel;
        if (!mark || !is_what_it_seems(*mark, file)) continue;
        const DecoratorRule& rule = *mark->rule;
        add({file, i, rule.kind, rule.told_as, rule.launch, rule.marks_helpers, {}});
      }
    }
  }

  void add(Jitted jitted) {
    const python::Function& function = function_of(jitted);
    by_name_[function.name].push_back(jitted_.size());
    if (!function.scope.empty()) {
      by_maker_[{jitted.file, function.scope}].push_back(jitted_.size());
    }
    by_function_.try_emplace({jitted.file, jitted.function}, jitted_.size());
    in_file_[{jitted.file, function.name}].push_back(jitted_.size());
    jitted_.push_back(std::move(jitted));
  }

  // A decorator that is imported from elsewhere than the rule says: a module of the repository may
  // hand on what the rule means, and may as well define its own function of that name.
  bool is_what_it_seems(const python::KernelMark& mark, uint32_t file) const {
    if (mark.fit == RuleFit::kExact) return true;
    const std::string_view first =
        std::string_view(mark.decorator)
            .substr(0, std::min(mark.decorator.find('.'), mark.decorator.size()));
    // The language's own repository defines what the rule means.
    const std::string package(mark.rule->path.substr(0, mark.rule->path.find('.') + 1));
    const auto is_own = [&](const std::optional<PythonName>& name) {
      return name && !names_.module_of(name->file).starts_with(package) &&
             (name->kind == PythonName::Kind::kFunction || name->kind == PythonName::Kind::kClass);
    };
    if (is_own(names_.resolve(mark.decorator, file)) || is_own(names_.resolve(first, file)))
      return false;
    for (const python::Import& import : readings_.readings[file].python.imports) {
      if (import.bound_to != first) continue;
      if (import.module.starts_with('.') || names_.find_module(import.module, file)) return true;
      // Other projects hand Triton on, as vLLM does to its plugins.
      return mark.fit == RuleFit::kHanded && mark.rule->told_as == KernelVoice::kTriton;
    }
    return true;  // by a star import, or by what the file does at run time
  }

  // pl.pallas_call(f, …) makes a kernel of f and launches it.
  void collect_made(const python::Launch& launch, uint32_t file) {
    for (const std::string& written : launch.kernels) {
      const std::optional<PythonRef> function = function_named(written, file, launch.function);
      if (!function) continue;
      const auto [known, fresh] =
          by_function_.try_emplace({function->file, function->index}, jitted_.size());
      if (fresh) {
        add({function->file,
             function->index,
             *launch.makes,
             KernelVoice::kNone,
             LaunchForm::kMade,
             false,
             {}});
      }
      KernelLauncher launcher = launcher_of(launch, file);
      launcher.via = launch.via;
      if (launch.kernels.size() > 1) launcher.certainty = Certainty::kLikely;
      jitted_[known->second].launchers.push_back(std::move(launcher));
    }
  }

  // A file's functions that stand in others or in classes, by scope and name.
  const InnerFunctions& inner_functions(uint32_t file) const {
    const auto [known, fresh] = inner_.try_emplace(file);
    const auto& functions = readings_.readings[file].python.functions;
    for (uint32_t i = 0; fresh && i < functions.size(); ++i) {
      const python::Function& one = functions[i];
      if (!one.scope.empty()) known->second.emplace(one.scope + "." + one.name, i);
    }
    return known->second;
  }

  // The function of a name: in the functions around, in the file, or imported.
  std::optional<PythonRef> function_named(std::string_view written, uint32_t file,
                                          std::string_view around) const {
    const InnerFunctions& inner = inner_functions(file);
    while (!around.empty()) {
      const auto found = inner.find(std::string(around) + "." + std::string(written));
      if (found != inner.end()) return PythonRef{file, found->second};
      const size_t dot = around.rfind('.');
      around = around.substr(0, dot == std::string_view::npos ? 0 : dot);
    }
    const auto resolved = names_.resolve(written, file);
    if (!resolved || resolved->kind != PythonName::Kind::kFunction) return std::nullopt;
    return PythonRef{resolved->file, static_cast<uint32_t>(resolved->index)};
  }

  // `triton.jit` marks what kernels call, too. What nothing launches is such a function where
  // another calls it, or where it writes nothing: a kernel without a store does nothing.
  bool is_device_function(const Jitted& jitted) const {
    if (!jitted.marks_helpers || !jitted.launchers.empty()) return false;
    return jitted.called || !stores(jitted);
  }

  // Itself or through what it calls. With very many functions to look at it is taken to.
  bool stores(const Jitted& jitted) const {
    std::set<size_t> seen;
    std::vector<const Jitted*> left = {&jitted};
    while (!left.empty()) {
      const Jitted& at = *left.back();
      left.pop_back();
      const python::Function& function = function_of(at);
      for (const python::Call& call : function.calls) {
        if (is_store(call.callee) || seen.size() >= kMaxReached) return true;
        for (const Meant& one : candidates(call.callee, at.file, qualified_name(function))) {
          if (seen.insert(one.kernel).second) left.push_back(&jitted_[one.kernel]);
        }
      }
    }
    return false;
  }

  const python::Function& function_of(const Jitted& jitted) const {
    return readings_.readings[jitted.file].python.functions[jitted.function];
  }

  struct Meant {
    size_t kernel;
    Certainty certainty = Certainty::kCertain;
  };

  // What a name written in a file means among the marked functions: by its imports, else a function
  // of the class or functions around, else the only one of this name in the file.
  std::vector<Meant> candidates(std::string_view written, uint32_t file,
                                std::string_view around) const {
    std::vector<Meant> out;
    for (const PythonName& name : names_.resolve_all(written, file)) {
      if (name.kind == PythonName::Kind::kFunction) add_function(name.file, name.index, out);
    }
    if (out.size() > 1) {
      for (Meant& one : out) one.certainty = Certainty::kLikely;  // a condition decides
    }
    if (!out.empty()) return out;
    const auto found = in_file_.find({file, last_part(written)});
    if (found == in_file_.end()) return out;
    const bool plain = written.find('.') == std::string_view::npos;
    if (!plain && !written.starts_with("self.") && !written.starts_with("cls.")) return out;
    size_t deepest = 0;
    for (const size_t i : found->second) {
      // The innermost scope around that has it.
      const std::string& scope = function_of(jitted_[i]).scope;
      const bool encloses = scope.empty() || around == scope || around.starts_with(scope + ".");
      if (!encloses || scope.size() < deepest) continue;
      if (scope.size() > deepest) out.clear();
      deepest = scope.size();
      out.push_back({i});
    }
    return out;
  }

  void add_function(uint32_t file, size_t function, std::vector<Meant>& out) const {
    const auto found = by_function_.find({file, function});
    if (found == by_function_.end()) return;
    const bool known = std::any_of(out.begin(), out.end(),
                                   [&](const Meant& one) { return one.kernel == found->second; });
    if (!known) out.push_back({found->second});
  }

  // The same for what is launched, which may be kept anywhere: in an attribute, a table, what a
  // function returns.
  std::vector<Meant> launched(std::string_view written, const python::Launch& launch,
                              uint32_t file) const {
    std::vector<Meant> out = candidates(written, file, launch.function);
    if (!out.empty()) return out;
    const auto around = types_.classes().find_function(file, launch.function);
    const PythonValues values =
        types_.evaluate(written, file, around ? around->index : kPythonModuleLevel);
    for (const PythonValue& value : values) {
      if (value.kind != PythonValue::Kind::kFunction) continue;
      const size_t before = out.size();
      add_function(value.ref.file, value.ref.index, out);
      if (out.size() > before) out.back().certainty = value.certainty;
    }
    // All that a table or attribute holds anywhere: which of it is meant here is not followed.
    if (out.size() > 1) {
      for (Meant& one : out) one.certainty = Certainty::kUnsure;
    }
    if (!out.empty()) return out;
    for (const size_t i : made_by(written, file)) {
      const bool near = jitted_[i].file == file;
      out.push_back({i, near ? Certainty::kCertain : Certainty::kLikely});
    }
    if (!out.empty() || !values.empty()) return out;
    return only_namesake(written, file);
  }

  // An object that nobody knows: the only kernel of its name may be meant, unless a module of
  // others says whose it is.
  std::vector<Meant> only_namesake(std::string_view written, uint32_t file) const {
    const auto found = by_name_.find(last_part(written));
    if (found == by_name_.end() || found->second.size() != 1) return {};
    const std::string_view head = written.substr(0, written.find('.'));
    for (const python::Import& import : readings_.readings[file].python.imports) {
      if (import.bound_to == head && !import.module.starts_with('.') &&
          !names_.find_module(import.module, file))
        return {};
    }
    return {{found->second[0], Certainty::kUnsure}};
  }

  // `kernel = make_kernel()` where the function defines kernels and gives one back.
  std::vector<size_t> made_by(std::string_view maker, uint32_t file) const {
    if (by_maker_.empty()) return {};
    const auto resolved = names_.resolve(maker, file);
    if (!resolved || resolved->kind != PythonName::Kind::kFunction) return {};
    const python::Function& function =
        readings_.readings[resolved->file].python.functions[resolved->index];
    const auto found = by_maker_.find({resolved->file, function.name});
    return found == by_maker_.end() ? std::vector<size_t>() : found->second;
  }

  void attach(const python::Launch& launch, uint32_t file) {
    if (launch.makes) return;  // collect_made did
    std::map<size_t, Certainty> meant;
    const std::vector<std::string> own = {launch.kernel};
    for (const std::string& written : launch.kernels.empty() ? own : launch.kernels) {
      for (const Meant& one : launched(written, launch, file)) {
        if (can_launch(launch.kind, jitted_[one.kernel])) meant.emplace(one.kernel, one.certainty);
      }
    }
    if (meant.empty()) note_parameter(launch, file);
    // More than a dispatch has are the values of a table of everything.
    if (meant.size() > kMaxCandidates) return;
    for (const auto& [i, certainty] : meant) {
      KernelLauncher launcher = launcher_of(launch, file);
      if (is_triton(jitted_[i])) add_arguments(launch, jitted_[i], launcher);
      launcher.via = via_of(launch, jitted_[i]);
      if (jitted_[i].kind == KernelKind::kNumba || jitted_[i].kind == KernelKind::kCupy)
        split_configuration(launcher);
      // Which of several it is, the program decides.
      const Certainty several = meant.size() == 1 ? Certainty::kCertain : Certainty::kLikely;
      launcher.certainty = std::max(certainty, several);
      const bool made = !function_of(jitted_[i]).scope.empty() && jitted_[i].file != file;
      if (made) launcher.certainty = std::max(launcher.certainty, Certainty::kLikely);
      jitted_[i].launchers.push_back(std::move(launcher));
    }
  }

  // def launch(kernel, grid, x): kernel[grid](x): what is handed to it is launched.
  void note_parameter(const python::Launch& launch, uint32_t file) {
    const auto around = types_.classes().find_function(file, launch.function);
    if (!around) return;
    const std::vector<python::Argument>& parameters = types_.classes().function(*around).parameters;
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].name == launch.kernel)
        launching_.emplace(*around, LaunchedArgument{i, &launch});
    }
  }

  void attach_handed(const python::HandedName& handed, uint32_t file) {
    if (launching_.empty()) return;
    const auto around = types_.classes().find_function(file, handed.function);
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
      for (const Meant& one : candidates(handed.name, file, handed.function)) {
        if (!can_launch(launch->kind, jitted_[one.kernel])) continue;
        KernelLauncher launcher;
        launcher.at = {file, handed.line_first};
        launcher.line_last = handed.line_last;
        launcher.function = handed.function;
        launcher.via = callee.name;
        launcher.certainty = std::max(one.certainty, value.certainty);
        jitted_[one.kernel].launchers.push_back(std::move(launcher));
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
    const std::vector<std::string> parts = parts_of(launcher.grid);
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
      if (argument.name == "num_warps") launcher.block = "32 * " + argument.text;
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
      if (call.callee.find('[') != std::string::npos) continue;
      if (!by_name_.contains(last_part(call.callee))) continue;
      const std::vector<Meant> meant = candidates(call.callee, file, qualified_name(function));
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
    KernelLauncher launcher;
    launcher.at = {file, call.line_first};
    launcher.line_last = call.line_last;
    launcher.function =
        function.scope.empty() ? function.name : function.scope + "." + function.name;
    launcher.via = "call";
    jitted_[kernel].launchers.push_back(std::move(launcher));
  }

  KernelFacts facts_of(Jitted& jitted) const {
    const python::Function& function = function_of(jitted);
    KernelFacts kernel;
    kernel.name = function.name;
    kernel.scope = names_.module_of(jitted.file);
    if (!function.scope.empty()) kernel.scope += "." + function.scope;
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
    kernel.launchers = std::move(jitted.launchers);
    // What a compiler of the program is handed is launched in ways that are not followed.
    const bool followed = jitted.form != LaunchForm::kMade;
    kernel.dead = followed && kernel.launchers.empty() && !is_named(function.name);
    std::set<size_t> seen = {static_cast<size_t>(&jitted - jitted_.data())};
    add_evidence(jitted, Certainty::kCertain, 0, seen, kernel.evidence);
    add_accesses(jitted, kernel);
    return kernel;
  }

  // A kernel that a call makes of a text. Who launches it is not followed.
  KernelFacts facts_of(const python::NamedKernel& named, uint32_t file) const {
    KernelFacts kernel;
    kernel.name = named.name;
    if (is_python_kernel(named.kind)) kernel.scope = names_.module_of(file);
    kernel.kind = named.kind;
    kernel.body_read = false;
    kernel.at = {file, named.line_first};
    kernel.line_name = named.line_first;
    kernel.line_last = named.line_last;
    return kernel;
  }

  // What a kernel does itself, then what the functions do that it calls; each thing once.
  void add_evidence(const Jitted& jitted, Certainty certainty, int depth, std::set<size_t>& seen,
                    std::vector<CodeEvidence>& out) const {
    constexpr int kDeepest = 4;
    const python::Function& function = function_of(jitted);
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
          candidates(call.callee, jitted.file, qualified_name(function));
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
    for (ArrayAccess& access : kernel.accesses) access.at.file = jitted.file;
    for (ArrayTraffic& traffic : kernel.traffic) traffic.at.file = jitted.file;
  }

  // The kernel's parameters as the launch fills them: by position, or by name.
  void add_arguments(const python::Launch& launch, const Jitted& jitted,
                     KernelLauncher& launcher) const {
    const std::vector<python::Argument>& parameters = function_of(jitted).parameters;
    for (size_t i = 0; i < launch.arguments.size(); ++i) {
      const python::Argument& given = launch.arguments[i];
      if (given.name.empty() && i >= parameters.size()) break;
      launcher.arguments.push_back(
          {given.name.empty() ? parameters[i].name : given.name, given.text, launcher.at});
    }
    add_values(launch, launcher);
  }

  // What the names in the arguments and the grid were last set to before the launch.
  void add_values(const python::Launch& launch, KernelLauncher& launcher) const {
    constexpr size_t kMost = 24;
    std::vector<std::string> wanted;
    const auto want = [&](std::string_view text) {
      for (std::string& name : words_of(text)) {
        if (std::find(wanted.begin(), wanted.end(), name) == wanted.end())
          wanted.push_back(std::move(name));
      }
    };
    want(launcher.grid);
    for (const NamedValue& argument : launcher.arguments) want(argument.text);
    for (size_t i = 0; i < wanted.size() && launcher.argument_values.size() < kMost; ++i) {
      const python::AssignedValue* last = last_value(launcher.at.file, wanted[i], launch.line_last);
      if (last == nullptr || last->text == last->name) continue;
      launcher.argument_values.push_back({last->name, last->text, {launcher.at.file, last->line}});
      want(last->text);
    }
  }

  // The last of the file's values that the name has up to a line; null: none.
  const python::AssignedValue* last_value(uint32_t file, const std::string& name,
                                          uint32_t line) const {
    auto known = values_.find(file);
    if (known == values_.end()) {
      known = values_.emplace(file, ValuesByName()).first;
      for (const python::AssignedValue& value : readings_.readings[file].python_values)
        known->second[value.name].push_back(&value);
    }
    const auto found = known->second.find(name);
    if (found == known->second.end()) return nullptr;
    // In the order of the file, where lines do not always grow.
    constexpr size_t kMaxTries = 1000;
    for (size_t i = found->second.size(), tries = 0; i-- > 0 && tries < kMaxTries; ++tries) {
      if (found->second[i]->line <= line) return found->second[i];
    }
    return nullptr;
  }

  // The names of an expression, in order; what follows a dot is none.
  static std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> out;
    for (size_t at = 0; at < text.size();) {
      const auto is_part = [&](size_t i) {
        return i < text.size() &&
               (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_');
      };
      if (!is_part(at)) {
        ++at;
        continue;
      }
      size_t end = at;
      while (is_part(end)) ++end;
      const bool member = at > 0 && text[at - 1] == '.';
      if (!member && std::isdigit(static_cast<unsigned char>(text[at])) == 0)
        out.emplace_back(text.substr(at, end - at));
      at = end;
    }
    return out;
  }

  bool is_named(std::string_view name) const { return names_used_.contains(name); }

  const Readings& readings_;
  const PythonNames& names_;
  const PythonTypes& types_;
  std::vector<Jitted> jitted_;
  // Kernels that a function defines, by the function's name.
  std::map<std::pair<uint32_t, std::string>, std::vector<size_t>> by_maker_;
  std::map<std::string, std::vector<size_t>, std::less<>> by_name_;
  std::map<std::pair<uint32_t, size_t>, size_t> by_function_;  // file and function → kernel
  std::map<std::pair<uint32_t, std::string_view>, std::vector<size_t>> in_file_;
  // Functions that launch a parameter of theirs.
  struct LaunchedArgument {
    size_t parameter;
    const python::Launch* launch;
  };
  std::map<PythonRef, LaunchedArgument> launching_;
  std::unordered_set<std::string_view> names_used_;  // in any file
  using ValuesByName =
      std::unordered_map<std::string_view, std::vector<const python::AssignedValue*>>;
  mutable std::map<uint32_t, InnerFunctions> inner_;  // of files that make kernels of functions
  mutable std::map<uint32_t, ValuesByName> values_;   // of files that launch something
};

}  // namespace

std::vector<KernelFacts> triton_kernels(const Readings& readings, const PythonNames& names,
                                        const PythonTypes& types) {
  return TritonLinker(readings, names, types).run();
}

}  // namespace fathom
