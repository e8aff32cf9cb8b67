
#include "base/text_parts.h"
#include "scan/cpp/cpp_file.h"
#include "scan/cpp/kernel_choice.h"
#include "scan/cpp/launches.h"
#include "scan/cpp/macros.h"
#include "scan/cpp/vocabulary.h"

namespace fathom::cpp {
namespace {

// `marked`: macros that files took for __global__ without knowing their definition.
void add_macros(const std::vector<const Macro*>& macros, const std::set<std::string_view>& marked,
                KnownNames& known) {
  const auto kernel_macros =
      macros_reaching(macros, makes_kernels, [](std::string_view) { return false; });
  const auto launching = macros_reaching(macros, launches_directly, [&](std::string_view name) {
    return known.launch_helpers.contains(name);
  });
  for (const Macro* macro : macros) {
    if (makes_device_functions(*macro)) known.device_words.insert(macro->name);
    if (kernel_macros.contains(macro->name)) {
      known.kernel_macros.emplace(macro->name, *macro);
    } else if (marked.contains(macro->name)) {
      known.other_macros.insert(macro->name);
    }
    if (calls_parameter(*macro)) known.passing_macros[macro->name].push_back(*macro);
    if (launching.contains(macro->name)) {
      known.launch_macros[macro->name].push_back(*macro);
    }
  }
}

// struct Wrapper<Kernel> : Kernel
void add_wrapper(const Class& one, KnownNames& known) {
  if (one.template_parameters.empty() || one.bases.empty()) return;
  const std::vector<std::string> names = parameter_names(one.template_parameters);
  for (size_t k = 0; k < names.size(); ++k) {
    if (contains(one.bases, names[k])) {
      known.class_wrappers.emplace(one.name, k);
    }
  }
}

// What hands its parameter to a helper is one itself, through a few functions.
void add_indirect_helpers(const std::vector<const Definitions*>& files, KnownNames& known) {
  constexpr int kRounds = 3;
  for (int round = 0; round < kRounds; ++round) {
    const size_t before = known.launch_helpers.size();
    for (const Definitions* file : files) {
      for (const HandedParameter& handed : file->handed_parameters) {
        const auto helper = known.launch_helpers.find(handed.callee);
        if (helper == known.launch_helpers.end() || !helper->second.method.empty() ||
            helper->second.kernel != handed.argument || handed.function == handed.callee)
          continue;
        LaunchHelper indirect;
        indirect.name = handed.function;
        indirect.kernel = handed.parameter;
        known.launch_helpers.emplace(handed.function, std::move(indirect));
      }
    }
    if (known.launch_helpers.size() == before) return;
  }
}

void add_choosers(const std::vector<const Definitions*>& files, KnownNames& known) {
  constexpr size_t kMostChosen = 64;
  for (const Definitions* file : files) {
    for (const auto& [function, name] : file->returned_names) {
      const size_t colons = name.rfind("::");
      if (!known.kernels.contains(colons == std::string::npos ? name : name.substr(colons + 2)))
        continue;
      std::vector<std::string>& chosen = known.kernel_choosers[function];
      if (chosen.size() < kMostChosen && !contains(chosen, name)) chosen.push_back(name);
    }
  }
}

}  // namespace

KnownNames known_names(const std::vector<const Definitions*>& files) {
  KnownNames known;
  std::vector<const Macro*> macros;
  std::set<std::string_view> marked;
  for (const Definitions* file : files) {
    for (const Macro& macro : file->macros) macros.push_back(&macro);
    for (const Class& one : file->classes) add_wrapper(one, known);
    for (const LaunchHelper& helper : file->launch_helpers) {
      known.launch_helpers.emplace(helper.name, helper);
    }
    for (const Function& function : file->functions) {
      if (function.kind == FunctionKind::kKernel) known.kernels.insert(function.name);
      if (!function.marked_by.empty()) marked.insert(function.marked_by);
      if (function.name != "operator()" || function.scope.empty()) continue;
      const size_t colons = function.scope.rfind("::");
      known.callable_classes.insert(
          colons == std::string::npos ? function.scope : function.scope.substr(colons + 2));
    }
  }
  add_indirect_helpers(files, known);
  add_choosers(files, known);
  add_macros(macros, marked, known);
  return known;
}

}  // namespace fathom::cpp
