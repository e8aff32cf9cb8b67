// Which Python function uses what C++ exports: the half of PythonPaths at the binding.
#include <algorithm>
#include <tuple>

#include "scan/facts/code_names.h"
#include "scan/facts/text_lines.h"
#include "scan/files/code_purpose.h"
#include "scan/link/python_paths.h"

namespace fathom {
namespace {

constexpr int kMaxPathHandOvers = 3;
// A name that more functions call is a common word.
constexpr size_t kMaxCallees = 4;

}  // namespace

// Of an extension module only who imports it: hundreds of modules may export one name.
std::vector<PythonPaths::FunctionRef> PythonPaths::possible_users(
    const Exported& exported, const std::vector<FunctionRef>& callers) const {
  const std::vector<std::string>& modules = modules_.of(exported.at.file);
  const bool of_library = exported.name.find("::") != std::string::npos;
  if (of_library || modules.empty() || !types_.jit().builders_of(exported.at.file).empty())
    return callers;
  std::set<uint32_t> files;
  for (const std::string& module : modules) {
    const auto importers = importers_.find(module);
    if (importers != importers_.end())
      files.insert(importers->second.begin(), importers->second.end());
  }
  std::vector<FunctionRef> out;
  for (const uint32_t file : files) {
    // Callers are in order of file.
    auto at =
        std::lower_bound(callers.begin(), callers.end(), file,
                         [](const FunctionRef& one, uint32_t wanted) { return one.file < wanted; });
    for (; at != callers.end() && at->file == file; ++at) out.push_back(*at);
  }
  return out;
}

void PythonPaths::index_holders() {
  for (const Exported& exported : exports_) {
    if (!exported.from_python) exporters_[last_name(exported.name)].insert(exported.at.file);
  }
  const auto add = [&](std::string_view value, const FunctionRef& function) {
    const size_t dot = value.rfind('.');
    if (dot == std::string_view::npos || !exporters_.contains(value.substr(dot + 1))) return;
    holders_[value.substr(dot + 1)].push_back({function, value.substr(0, dot)});
  };
  for (uint32_t file = 0; file < readings_.files.size() && !exporters_.empty(); ++file) {
    const python::PythonFile& python = readings_.readings[file].python;
    for (const python::ValueFlow& flow : python.flows) {
      if (flow.kind == python::FlowKind::kAssign && flow.function < python.functions.size())
        add(flow.value, {file, flow.function});
    }
    for (const python::HandedName& handed : python.handed) {
      const auto found = python_functions_[file].find(handed.function);
      if (found != python_functions_[file].end()) add(handed.name, {file, found->second.front()});
    }
  }
}

// What is named is likely run. Whose object it is must be known, or the name be one file's alone.
std::optional<PythonPaths::FunctionRef> PythonPaths::python_holder_of(const Exported& exported,
                                                                      Certainty& certainty) const {
  constexpr size_t kMostHolders = 64;
  const auto found = holders_.find(last_name(exported.name));
  if (found == holders_.end() || exported.name.find("::") != std::string::npos) return std::nullopt;
  const bool only = exporters_.find(last_name(exported.name))->second.size() == 1;
  std::optional<FunctionRef> by_name;
  for (size_t i = 0; i < std::min(found->second.size(), kMostHolders); ++i) {
    const auto& [function, object] = found->second[i];
    if (is_test_or_benchmark(readings_.files[function.file].path)) continue;
    if (modules_.is_imported_as(last_part(object), function.file, exported.at.file)) {
      certainty = Certainty::kLikely;
      return function;
    }
    const std::string_view head = object.substr(0, object.find_first_of(".[("));
    const bool own = head != "self" && !is_foreign(function.file, head);
    if (only && own && !by_name) by_name = function;
  }
  certainty = Certainty::kUnsure;
  return by_name;
}

std::optional<PythonPaths::FunctionRef> PythonPaths::python_user(const Exported& exported,
                                                                 Certainty& certainty) const {
  std::optional<FunctionRef> caller = python_caller_of(exported, certainty);
  const bool of_test = caller && is_test_or_benchmark(readings_.files[caller->file].path);
  if (exported.from_python || (caller && !of_test)) return caller;
  Certainty held = Certainty::kUnsure;
  const std::optional<FunctionRef> holder = python_holder_of(exported, held);
  if (!holder) return caller;
  certainty = held;
  return holder;
}

std::optional<PythonPaths::FunctionRef> PythonPaths::python_caller_of(const Exported& exported,
                                                                      Certainty& certainty) const {
  if (exported.from_python) {
    const auto& functions = readings_.readings[exported.at.file].python.functions;
    for (size_t i = 0; i < functions.size(); ++i) {
      if (qualified_name(functions[i]) == exported.function) {
        certainty = Certainty::kUnsure;
        return FunctionRef{exported.at.file, i};
      }
    }
    return std::nullopt;
  }
  const auto found = python_callers_.find(last_name(exported.name));
  if (found == python_callers_.end()) return std::nullopt;
  // Best is one of a file that compiles the C++ file; then the nearest in the tree of folders that
  // is no test, where the name is not a common one.
  const std::set<uint32_t> builders = files_that_build(exported.at.file);
  const std::string_view home = readings_.files[exported.at.file].path;
  std::optional<FunctionRef> best;
  std::tuple<bool, bool, size_t> best_rank;
  size_t candidates = 0;
  bool proven = false;
  // A name of several modules is nobody's unless the object says whose it is.
  const bool common = !types_.jit().builders_of(exported.at.file).empty() &&
                      types_.jit().files_exporting(exported.name) > 1;
  for (const FunctionRef& user : possible_users(exported, found->second)) {
    const std::optional<bool> built = calls_built(user, exported);
    if (!built.value_or(!common && !proven && calls_export(user, exported))) continue;
    const std::string_view path = readings_.files[user.file].path;
    const bool product = !is_test_or_benchmark(path);
    if (built && product && !proven) {
      best.reset();
      candidates = 0;
    }
    // A test's object may be plain to see where the product's is not.
    proven |= built.has_value() && product;
    const std::tuple<bool, bool, size_t> rank = {builders.contains(user.file) && product, product,
                                                 common_prefix(path, home)};
    candidates += std::get<1>(rank);
    if (!best || rank > best_rank) {
      best = user;
      best_rank = rank;
    }
  }
  if (proven || std::get<0>(best_rank) || candidates <= 1) {
    certainty = Certainty::kLikely;
    return best;
  }
  // Where others compile the file, a user elsewhere means another module's function of this name.
  if (!builders.empty() || candidates > kMaxCallees) return std::nullopt;
  certainty = Certainty::kUnsure;
  return best;
}

// The Python files of the functions that name a C++ file for compiling, and of those that call
// them: the module is handed on through a few functions.
std::set<uint32_t> PythonPaths::files_that_build(uint32_t cpp_file) const {
  std::set<uint32_t> files;
  const auto found = generators_.find(file_name(readings_.files[cpp_file].path));
  if (found == generators_.end()) return files;
  std::vector<FunctionRef> level = found->second;
  for (int hop = 0; hop <= kMaxPathHandOvers && !level.empty(); ++hop) {
    std::vector<FunctionRef> next;
    for (const FunctionRef& function : level) {
      files.insert(function.file);
      const std::string& name = python_at(function).name;
      const auto callers = python_callers_.find(name);
      if (callers == python_callers_.end() || python_definitions_.find(name)->second > 1) continue;
      next.insert(next.end(), callers->second.begin(), callers->second.end());
    }
    level = std::move(next);
  }
  return files;
}

bool PythonPaths::calls_export(const FunctionRef& ref, const Exported& exported) const {
  // torch.ops has no module.
  const bool of_library = exported.name.find("::") != std::string::npos;
  if (of_library || modules_.of(exported.at.file).empty())
    return calls_object(ref, exported.name, Of::kModule);
  for (const python::Call& call : python_at(ref).calls) {
    const std::string_view callee = call.callee;
    const size_t dot = callee.rfind('.');
    if (dot == std::string_view::npos || callee.substr(dot + 1) != exported.name) continue;
    const std::string_view object = last_part(callee.substr(0, dot));
    if (modules_.is_imported_as(object, ref.file, exported.at.file)) return true;
  }
  return false;
}

std::optional<bool> PythonPaths::calls_built(const FunctionRef& ref,
                                             const Exported& exported) const {
  if (types_.jit().builders_of(exported.at.file).empty()) return std::nullopt;
  std::optional<bool> out;
  for (const python::Call& call : python_at(ref).calls) {
    if (last_part(call.callee) != exported.name && !aliases_.contains({ref.file, call.callee}))
      continue;
    for (const PythonValue& value :
         types_.evaluate(call.path.empty() ? call.callee : call.path, ref.file,
                         static_cast<uint32_t>(ref.function))) {
      // A method that calls nothing may stand for the export: a stub for type checkers.
      if (value.kind == PythonValue::Kind::kFunction && !out &&
          !readings_.readings[value.ref.file].python.functions[value.ref.index].calls.empty())
        out = false;
      if (value.kind != PythonValue::Kind::kBuilt || value.member != exported.name) continue;
      const std::vector<uint32_t>& sources = types_.jit().sources_of(value.ref);
      if (std::binary_search(sources.begin(), sources.end(), exported.at.file)) return true;
      out = false;
    }
  }
  return out;
}

// flash_attn_3_gpu.fwd, where `flash_attn_3_gpu = torch.ops.flash_attn_3` →
// torch.ops.flash_attn_3.fwd.
std::string PythonPaths::library_alias(const FunctionRef& ref, std::string_view callee) const {
  const std::string_view head = callee.substr(0, callee.find('.'));
  for (const python::ValueFlow& flow : readings_.readings[ref.file].python.flows) {
    if (flow.kind == python::FlowKind::kAssign && flow.target == head &&
        flow.value.starts_with("torch.ops."))
      return flow.value + std::string(callee.substr(head.size()));
  }
  return std::string(callee);
}

// Whether a name of a file is imported from others. What stands beside the file and is no file is
// compiled from this repository.
bool PythonPaths::is_foreign(uint32_t file, std::string_view name) const {
  const auto& imports = readings_.readings[file].python.imports;
  return std::any_of(imports.begin(), imports.end(), [&](const python::Import& import) {
    return import.bound_to == name && !import.module.starts_with('.') &&
           !names_.resolve(name, file);
  });
}

// Whether a function calls `object.name` of an object that is not a third-party module.
bool PythonPaths::calls_object(const FunctionRef& ref, std::string_view name, Of of) const {
  for (const python::Call& call : python_at(ref).calls) {
    if (last_part(call.callee) != last_name(name)) continue;
    const std::string callee = library_alias(ref, call.callee);
    // What TORCH_LIBRARY(library, …) defines is torch.ops.library.name, and nothing else is.
    const bool of_library = name.find("::") != std::string_view::npos;
    if (of_library || callee.starts_with("torch.ops.")) {
      if (is_library_call(callee, name)) return true;
      continue;
    }
    const std::string_view head =
        std::string_view(call.callee).substr(0, call.callee.find_first_of(".[("));
    if (head == "self" && of == Of::kModule && call.callee == "self." + std::string(name)) continue;
    if (!is_foreign(ref.file, head)) return true;
  }
  return false;
}

}  // namespace fathom
