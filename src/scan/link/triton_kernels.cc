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

// More kernels of one name than this, and a launch by that name alone means none of them.
constexpr size_t kMaxCandidates = 4;
constexpr size_t kMaxReached = 200;  // functions that one kernel calls, directly or not

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

// What writes to memory, or may: a function that does none of it gives its result back to a caller.
bool is_store(std::string_view callee) {
  for (const std::string_view word : {"store", "atomic", "asm", "put", "copy", "scatter"}) {
    if (last_part(callee).find(word) != std::string_view::npos) return true;
  }
  return false;
}

bool is_triton(const Jitted& jitted) { return jitted.scope == cpp::PatternScope::kTriton; }

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
      if (is_device_function(jitted)) continue;
      out.push_back(facts_of(jitted));
    }
    return out;
  }

 private:
  void collect() {
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      const python::PythonFile& python = readings_.readings[file].python;
      names_used_.insert(python.names_used.begin(), python.names_used.end());
      for (size_t i = 0; i < python.functions.size(); ++i) {
        const auto scope = python_kernel_scope(python.functions[i], python);
        if (!scope) continue;
        by_name_[python.functions[i].name].push_back(jitted_.size());
        if (!python.functions[i].scope.empty()) {
          by_maker_[{file, python.functions[i].scope}].push_back(jitted_.size());
        }
        jitted_.push_back({file, i, *scope, {}});
      }
    }
  }

  // `triton.jit` marks what kernels call, too. What nothing launches is such a function where
  // another calls it, or where it writes nothing: a kernel without a store does nothing.
  bool is_device_function(const Jitted& jitted) const {
    if (!is_triton(jitted) || !jitted.launchers.empty()) return false;
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
        if (!by_name_.contains(last_part(call.callee))) continue;
        for (const size_t i : candidates(call.callee, at.file, function.scope)) {
          if (seen.insert(i).second) left.push_back(&jitted_[i]);
        }
      }
    }
    return false;
  }

  const python::Function& function_of(const Jitted& jitted) const {
    return readings_.readings[jitted.file].python.functions[jitted.function];
  }

  // What a name written in a file means among the marked functions: by its imports, else the method
  // of the class around, else in its own file, else whatever has that name.
  std::vector<size_t> candidates(std::string_view written, uint32_t file,
                                 std::string_view around) const {
    const auto found = by_name_.find(last_part(written));
    if (found == by_name_.end()) return made_by(written, file);
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
    std::set<size_t> meant;
    const std::vector<std::string> own = {launch.kernel};
    for (const std::string& written : launch.kernels.empty() ? own : launch.kernels) {
      for (const size_t i : candidates(written, file, launch.function)) {
        if (can_launch(launch.kind, jitted_[i])) meant.insert(i);
      }
    }
    // A name that many kernels have, as "kernel", says nothing.
    if (meant.size() > kMaxCandidates) return;
    for (const size_t i : meant) {
      KernelLauncher launcher = launcher_of(launch, file);
      if (is_triton(jitted_[i])) add_arguments(launch, jitted_[i], launcher);
      launcher.via = is_triton(jitted_[i]) ? "kernel[grid]" : "launch(grid=…)";
      launcher.certainty = meant.size() == 1 ? Certainty::kCertain : Certainty::kUnsure;
      const bool made = !function_of(jitted_[i]).scope.empty() && jitted_[i].file != file;
      if (made) launcher.certainty = std::max(launcher.certainty, Certainty::kLikely);
      jitted_[i].launchers.push_back(std::move(launcher));
    }
  }

  static bool can_launch(python::LaunchKind kind, const Jitted& jitted) {
    return is_triton(jitted) == (kind == python::LaunchKind::kSubscript);
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
    const python::Function& function = function_of(jitted);
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
    kernel.dead = kernel.launchers.empty() && !is_named(function.name);
    std::set<size_t> seen = {static_cast<size_t>(&jitted - jitted_.data())};
    add_evidence(jitted, Certainty::kCertain, 0, seen, kernel.evidence);
    add_accesses(jitted, kernel);
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
      if (!by_name_.contains(last_part(call.callee))) continue;
      const std::vector<size_t> meant = candidates(call.callee, jitted.file, function.scope);
      if (meant.size() > kMaxCandidates) continue;
      for (const size_t i : meant) {
        if (!is_triton(jitted_[i]) || !seen.insert(i).second) continue;
        add_evidence(jitted_[i], meant.size() == 1 ? certainty : Certainty::kUnsure, depth + 1,
                     seen, out);
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
      const python::AssignedValue* value = found->second[i];
      if (value->line <= line && is_seen_from(file, value->line, line)) return value;
    }
    return nullptr;
  }

  // Whether the innermost function around the first line, if any, is around the second one too.
  bool is_seen_from(uint32_t file, uint32_t value_line, uint32_t line) const {
    const auto& functions = readings_.readings[file].python.functions;
    auto known = innermost_.find(file);
    if (known == innermost_.end()) {
      known = innermost_.emplace(file, std::vector<uint32_t>()).first;
      std::vector<uint32_t>& lines = known->second;
      // Functions stand before those inside them, so the last one that is put down is the
      // innermost.
      for (uint32_t f = 0; f < functions.size(); ++f) {
        if (functions[f].line_last < functions[f].line_first) continue;
        if (lines.size() <= functions[f].line_last) lines.resize(functions[f].line_last + 1, 0);
        for (uint32_t at = functions[f].line_first; at <= functions[f].line_last; ++at)
          lines[at] = f + 1;
      }
    }
    const std::vector<uint32_t>& lines = known->second;
    if (value_line >= lines.size() || lines[value_line] == 0) return true;
    const python::Function& around = functions[lines[value_line] - 1];
    return around.line_first <= line && line <= around.line_last;
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
  std::vector<Jitted> jitted_;
  // Kernels that a function defines, by the function's name.
  std::map<std::pair<uint32_t, std::string>, std::vector<size_t>> by_maker_;
  std::map<std::string, std::vector<size_t>, std::less<>> by_name_;
  std::unordered_set<std::string_view> names_used_;  // in any file
  using ValuesByName =
      std::unordered_map<std::string_view, std::vector<const python::AssignedValue*>>;
  mutable std::map<uint32_t, ValuesByName> values_;              // of files that launch something
  mutable std::map<uint32_t, std::vector<uint32_t>> innermost_;  // function around each line, + 1
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
