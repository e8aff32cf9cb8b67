#include "scan/link/jitted_functions.h"

#include <algorithm>

#include "scan/facts/code_names.h"

namespace fathom {

JittedFunctions::JittedFunctions(const Readings& readings, const PythonNames& names,
                                 const PythonTypes& types)
    : readings_(readings), names_(names), types_(types) {
  for (uint32_t file = 0; file < readings_.files.size(); ++file) {
    const python::PythonFile& python = readings_.readings[file].python;
    for (size_t i = 0; i < python.functions.size(); ++i) {
      const auto& mark = python.functions[i].kernel;
      if (!mark || !is_what_it_seems(*mark, file)) continue;
      const DecoratorRule& rule = *mark->rule;
      add({file, i, rule.kind, rule.told_as, rule.launch, rule.marks_helpers, {}});
    }
  }
}

void JittedFunctions::add(Jitted jitted) {
  const python::Function& function = function_of(jitted);
  by_name_[function.name].push_back(all_.size());
  if (!function.scope.empty()) {
    by_maker_[{jitted.file, function.scope}].push_back(all_.size());
  }
  by_function_.try_emplace({jitted.file, jitted.function}, all_.size());
  in_file_[{jitted.file, function.name}].push_back(all_.size());
  all_.push_back(std::move(jitted));
}

// A decorator that is imported from elsewhere than the rule says: a module of the repository may
// hand on what the rule means, and may as well define its own function of that name.
bool JittedFunctions::is_what_it_seems(const python::KernelMark& mark, uint32_t file) const {
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

size_t JittedFunctions::made_of(const PythonRef& function, KernelKind kind) {
  const auto known = by_function_.find({function.file, function.index});
  if (known != by_function_.end()) return known->second;
  add({function.file, function.index, kind, KernelVoice::kNone, LaunchForm::kMade, false, {}});
  return all_.size() - 1;
}

std::vector<JittedFunctions::Meant> JittedFunctions::candidates(std::string_view written,
                                                                uint32_t file,
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
  const bool plain = !holds(written, '.');
  if (!plain && !written.starts_with("self.") && !written.starts_with("cls.")) return out;
  size_t deepest = 0;
  for (const size_t i : found->second) {
    // The innermost scope around that has it.
    const std::string& scope = function_of(all_[i]).scope;
    const bool encloses = scope.empty() || around == scope || around.starts_with(scope + ".");
    if (!encloses || scope.size() < deepest) continue;
    if (scope.size() > deepest) out.clear();
    deepest = scope.size();
    out.push_back({i});
  }
  return out;
}

void JittedFunctions::add_function(uint32_t file, size_t function, std::vector<Meant>& out) const {
  const auto found = by_function_.find({file, function});
  if (found == by_function_.end()) return;
  const bool known = std::any_of(out.begin(), out.end(),
                                 [&](const Meant& one) { return one.kernel == found->second; });
  if (!known) out.push_back({found->second});
}

std::vector<JittedFunctions::Meant> JittedFunctions::launched(std::string_view written,
                                                              const python::Launch& launch,
                                                              uint32_t file) const {
  std::vector<Meant> out = candidates(written, file, launch.function);
  if (!out.empty()) return out;
  const auto around = types_.names().find_function(file, launch.function);
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
    const bool near = all_[i].file == file;
    out.push_back({i, near ? Certainty::kCertain : Certainty::kLikely});
  }
  if (!out.empty() || !values.empty()) return out;
  return only_namesake(written, file);
}

// An object that nobody knows: the only kernel of its name may be meant, unless a module of
// others says whose it is.
std::vector<JittedFunctions::Meant> JittedFunctions::only_namesake(std::string_view written,
                                                                   uint32_t file) const {
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
std::vector<size_t> JittedFunctions::made_by(std::string_view maker, uint32_t file) const {
  if (by_maker_.empty()) return {};
  const auto resolved = names_.resolve_function(maker, file);
  if (!resolved) return {};
  const python::Function& function =
      readings_.readings[resolved->file].python.functions[resolved->index];
  return value_or_empty(by_maker_, {resolved->file, function.name});
}

void JittedFunctions::add_calls_of_made() {
  if (by_maker_.empty()) return;
  for (uint32_t file = 0; file < readings_.files.size(); ++file) {
    const python::PythonFile& python = readings_.readings[file].python;
    // A name belongs to its function, self.name to all functions of the class.
    using Owner = std::pair<std::string_view, uint32_t>;
    const auto owner = [&](std::string_view name, uint32_t function) {
      const bool of_class = name.starts_with("self.");
      const std::string_view scope = python.functions[function].scope;
      return of_class ? Owner(scope, 0) : Owner({}, function);
    };
    std::map<std::pair<Owner, std::string_view>, std::string_view> made;
    for (const python::ValueFlow& flow : python.flows) {
      if (flow.kind != python::FlowKind::kAssign || flow.function >= python.functions.size() ||
          !flow.value.ends_with("()"))
        continue;
      const std::string_view maker = std::string_view(flow.value).substr(0, flow.value.size() - 2);
      if (!made_by(maker, file).empty())
        made[{owner(flow.target, flow.function), flow.target}] = maker;
    }
    for (uint32_t i = 0; i < python.functions.size() && !made.empty(); ++i) {
      for (const python::Call& call : python.functions[i].calls) {
        const auto found = made.find({owner(call.callee, i), call.callee});
        if (found == made.end()) continue;
        for (const size_t kernel : made_by(found->second, file)) {
          if (all_[kernel].form != LaunchForm::kMade) continue;
          all_[kernel].launchers.push_back(launcher_at(
              {file, call.line_first}, call.line_last, qualified_name(python.functions[i]),
              std::string(found->second), Certainty::kLikely));
        }
      }
    }
  }
}

}  // namespace fathom
