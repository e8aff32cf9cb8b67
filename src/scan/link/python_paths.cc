#include "scan/link/python_paths.h"

#include <algorithm>
#include <cctype>
#include <deque>
#include <tuple>

#include "scan/facts/code_names.h"
#include "scan/link/code_purpose.h"

namespace fathom {
namespace {

// The way up is searched this far: beyond it names repeat more than calls do.
constexpr size_t kMaxSearched = 400, kMaxSearchTries = 20000;  // of one search
// And of all searches together: many functions of one name with many callers are their product.
constexpr size_t kLeastTries = 20000, kTriesOfCall = 64;
constexpr size_t kMaxPythonHops = 8;
constexpr int kMaxPathHandOvers = 3;
// A name that more functions call is a common word.
constexpr size_t kMaxCallees = 4;

// "ns::Class<int, {args}>::run" → the parts without template arguments and '&'.
std::string plain_name(std::string_view written) {
  std::string out;
  int depth = 0;
  for (const char c : written) {
    if (c == '<') ++depth;
    const bool kept =
        depth == 0 && (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ':');
    if (kept) out += c;
    if (c == '>') --depth;
  }
  return out;
}

std::string_view last_of(std::string_view name, std::string_view separator) {
  const size_t at = name.rfind(separator);
  return at == std::string_view::npos ? name : name.substr(at + separator.size());
}

std::string qualified(const cpp::Function& function) {
  return function.scope.empty() ? function.name : function.scope + "::" + function.name;
}

// Whether "torch.ops.mine.norm" means the "mine::norm" of a TORCH_LIBRARY; a library that is named
// by a macro, as TORCH_EXTENSION_NAME, may be any.
bool is_library_call(std::string_view callee, std::string_view exported) {
  if (!callee.starts_with("torch.ops.")) return false;
  callee.remove_prefix(10);
  const size_t dot = callee.rfind('.'), colons = exported.rfind("::");
  if (dot == std::string_view::npos || colons == std::string_view::npos) return false;
  if (callee.substr(dot + 1) != exported.substr(colons + 2)) return false;
  const std::string_view library = exported.substr(0, colons);
  const auto small = [](unsigned char c) { return std::islower(c) != 0; };
  const bool macro = library.size() > 2 && std::none_of(library.begin(), library.end(), small);
  return macro || callee.substr(0, dot) == library;
}

bool is_test_or_benchmark(std::string_view path) {
  return is_test_path(path) || path.starts_with("bench") ||
         path.find("/bench") != std::string_view::npos;
}

}  // namespace

PythonPaths::PythonPaths(const Readings& readings, const SymbolIndex& index,
                         const PythonNames& names, const PythonTypes& types)
    : readings_(readings),
      index_(index),
      names_(names),
      types_(types),
      modules_(readings),
      ops_(readings, names) {
  tries_left_ = kLeastTries;
  cpp_functions_.resize(readings.files.size());
  python_functions_.resize(readings.files.size());
  for (const FileReading& reading : readings.readings) {
    for (const cpp::Class& type : reading.cpp.classes) class_names_.insert(type.name);
  }
  for (uint32_t file = 0; file < readings.files.size(); ++file) {
    index_cpp(file);
    index_python(file);
    index_aliases(file);
  }
}

void PythonPaths::index_cpp(uint32_t file) {
  const FileReading& reading = readings_.readings[file];
  for (size_t i = 0; i < reading.usage.calls.size(); ++i) {
    for (const cpp::Call& call : reading.usage.calls[i]) {
      std::vector<CppCaller>& callers = cpp_callers_[last_of(call.name, "::")];
      const FunctionRef caller = {file, i};
      if (callers.empty() || callers.back().function != caller ||
          callers.back().written != call.name) {
        tries_left_ += kTriesOfCall;
        callers.push_back({caller, call.name, call.member});
      }
    }
  }
  for (size_t i = 0; i < reading.cpp.functions.size(); ++i) {
    const cpp::Function& function = reading.cpp.functions[i];
    if (!function.defined) continue;
    cpp_functions_[file].try_emplace(qualified(function), i);
    if (!function.scope.empty() && is_method(function)) ++methods_[function.name];
  }
  for (const cpp::Binding& binding : reading.usage.bindings) {
    const std::string target = plain_name(binding.target);
    exports_[std::string(last_of(target, "::"))].push_back(
        {binding.exported, target, binding.via, {file, binding.line}, false, ""});
  }
}

void PythonPaths::index_python(uint32_t file) {
  const python::PythonFile& python = readings_.readings[file].python;
  for (size_t i = 0; i < python.functions.size(); ++i) {
    for (const python::Call& call : python.functions[i].calls) {
      std::vector<FunctionRef>& callers = python_callers_[last_of(call.callee, ".")];
      const FunctionRef caller = {file, i};
      if (callers.empty() || callers.back() != caller) callers.push_back(caller);
    }
  }
  for (size_t i = 0; i < python.functions.size(); ++i) {
    ++python_definitions_[python.functions[i].name];
    python_functions_[file][qualified_name(python.functions[i])].push_back(i);
  }
  // A JIT generator names the function that it exports in a literal: f"IndexKernel<{args}>::run".
  for (const python::CudaText& literal : python.cuda_texts) {
    if (literal.kind == python::CudaTextKind::kFileName) {
      const auto found = python_functions_[file].find(literal.function);
      if (found == python_functions_[file].end()) continue;
      for (const size_t i : found->second)
        generators_[std::string(file_name(literal.text))].push_back({file, i});
    }
    if (literal.kind != python::CudaTextKind::kInstantiation) continue;
    const std::string target = plain_name(literal.text);
    exports_[std::string(last_of(target, "::"))].push_back(
        {"", target, literal.text, {file, literal.line}, true, literal.function});
  }
  for (const python::Import& import : python.imports) {
    const std::string_view meant = import.name.empty() ? last_part(import.module) : import.name;
    std::vector<uint32_t>& files = importers_[meant];
    if (files.empty() || files.back() != file) files.push_back(file);
  }
  if (file_name(readings_.files[file].path) == "__init__.py") {
    for (const python::Import& import : python.imports) public_names_.insert(import.name);
  }
}

// A function that calls a name which stands for an export calls the export.
void PythonPaths::index_aliases(uint32_t file) {
  const python::PythonFile& python = readings_.readings[file].python;
  for (const python::ValueFlow& flow : python.flows) {
    if (flow.kind == python::FlowKind::kMember) {
      members_[{file, flow.value}].push_back(flow.target);
    } else if (flow.kind == python::FlowKind::kAssign) {
      const size_t dot = flow.value.rfind('.');
      if (dot == std::string::npos || flow.target.find('.') != std::string::npos) continue;
      const std::string_view name = std::string_view(flow.value).substr(dot + 1);
      if (types_.jit().files_exporting(name) == 0) continue;
      aliases_[{file, flow.target}].push_back(name);
    }
  }
  for (size_t i = 0; i < python.functions.size() && !aliases_.empty(); ++i) {
    for (const python::Call& call : python.functions[i].calls) {
      const auto found = aliases_.find({file, call.callee});
      if (found == aliases_.end()) continue;
      for (const std::string_view name : found->second) {
        std::vector<FunctionRef>& callers = python_callers_[name];
        if (callers.empty() || callers.back() != FunctionRef{file, i}) callers.push_back({file, i});
      }
    }
  }
}

std::vector<PathHop> PythonPaths::to_cpp_function(uint32_t file,
                                                  std::string_view qualified_name) const {
  const auto found = cpp_functions_[file].find(std::string(qualified_name));
  if (found == cpp_functions_[file].end()) return {};
  std::optional<Exported> exported;
  const FunctionRef start = {file, found->second};
  const std::vector<ChainLink> chain = cpp_chain_to_export(start, exported);
  std::vector<PathHop> hops;
  if (exported) {
    Certainty certainty = Certainty::kLikely;
    if (const auto user = python_user(*exported, certainty)) hops = python_chain(*user, certainty);
    if (exported->from_python) {
      hops.push_back({PathHopKind::kJitGenerator, exported->via, exported->at});
    } else {
      hops.push_back({PathHopKind::kBinding, exported->name, exported->at, Certainty::kCertain,
                      exported->via});
    }
  }
  for (const auto& [ref, called] : chain) {
    // The last one launches, which is certain; whether the others run is a matter of names.
    const Certainty certainty =
        ref == start ? Certainty::kCertain : std::max(called, Certainty::kLikely);
    hops.push_back(
        {PathHopKind::kCpp, qualified(cpp_at(ref)), {ref.file, cpp_at(ref).line_name}, certainty});
  }
  return hops;
}

// Breadth first through the callers until one is exported; without any, the start alone.
std::vector<PythonPaths::ChainLink> PythonPaths::cpp_chain_to_export(
    const FunctionRef& start, std::optional<Exported>& exported) const {
  // A function → what it calls on the way down, and how sure that is.
  std::map<FunctionRef, std::pair<FunctionRef, Certainty>> called_from;
  std::deque<FunctionRef> queue = {start};
  called_from[start] = {start, Certainty::kCertain};
  size_t tries = 0;
  while (!queue.empty() && called_from.size() < kMaxSearched) {
    const FunctionRef at = queue.front();
    queue.pop_front();
    exported = exported_as(at);
    if (exported) {
      std::vector<ChainLink> chain = {{at, Certainty::kCertain}};
      // A function is as sure as the call above it that leads there.
      while (chain.back().function != start) {
        const auto& [callee, certainty] = called_from[chain.back().function];
        chain.push_back({callee, certainty});
      }
      return chain;
    }
    const auto callers = cpp_callers_.find(cpp_at(at).name);
    if (callers == cpp_callers_.end()) continue;
    for (const CppCaller& caller : callers->second) {
      if (tries_left_ == 0 || ++tries > kMaxSearchTries) return {{start, Certainty::kCertain}};
      --tries_left_;
      const std::optional<Certainty> certainty = can_call(caller, at);
      if (!certainty) continue;
      if (called_from.emplace(caller.function, std::pair(at, *certainty)).second)
        queue.push_back(caller.function);
    }
  }
  return {{start, Certainty::kCertain}};
}

std::optional<Certainty> PythonPaths::means(std::string_view written, const NameScope& at,
                                            const FunctionRef& callee) const {
  const SymbolId wanted = index_.function(callee.file, static_cast<uint32_t>(callee.function));
  const auto& meant = index_.resolve(written, at, index_.symbol(wanted).kind);
  // Which of so many it is stays open.
  constexpr size_t kMostMeant = 24;
  for (size_t i = 0; i < meant.size() && meant.size() <= kMostMeant; ++i) {
    if (meant[i].symbol == wanted) return meant[i].certainty;
  }
  return std::nullopt;
}

// Of an object whose class is not known: only where one class alone has such a method.
std::optional<Certainty> PythonPaths::can_call(const CppCaller& caller,
                                               const FunctionRef& callee) const {
  const cpp::Function& function = cpp_at(callee);
  if (caller.member) {
    const bool only = is_method(function) && methods_.find(function.name)->second == 1;
    return only ? std::optional(Certainty::kLikely) : std::nullopt;
  }
  return means(caller.written, {caller.function.file, cpp_at(caller.function).scope}, callee);
}

bool PythonPaths::is_method(const cpp::Function& function) const {
  return class_names_.contains(last_of(function.scope, "::"));
}

std::optional<PythonPaths::Exported> PythonPaths::exported_as(const FunctionRef& ref) const {
  const cpp::Function& function = cpp_at(ref);
  const auto found = exports_.find(function.name);
  if (found == exports_.end()) return std::nullopt;
  for (const Exported& exported : found->second) {
    // A generator's text is compiled with sources that only the program knows.
    const bool meant = exported.from_python
                           ? ends_with_name(qualified(function), exported.target)
                           : means(exported.target, {exported.at.file}, ref).has_value();
    if (meant) return exported;
  }
  return std::nullopt;
}

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

std::optional<PythonPaths::FunctionRef> PythonPaths::python_user(const Exported& exported,
                                                                 Certainty& certainty) const {
  if (exported.from_python) {
    const auto& functions = readings_.readings[exported.at.file].python.functions;
    for (size_t i = 0; i < functions.size(); ++i) {
      if (qualified_name(functions[i]) == exported.function) {
        certainty = Certainty::kCertain;
        return FunctionRef{exported.at.file, i};
      }
    }
    return std::nullopt;
  }
  const auto found = python_callers_.find(last_of(exported.name, "::"));
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
    const std::string_view object = last_of(callee.substr(0, dot), ".");
    if (modules_.is_imported_as(object, ref.file, exported.at.file)) return true;
  }
  return false;
}

std::optional<bool> PythonPaths::calls_built(const FunctionRef& ref,
                                             const Exported& exported) const {
  if (types_.jit().builders_of(exported.at.file).empty()) return std::nullopt;
  std::optional<bool> out;
  for (const python::Call& call : python_at(ref).calls) {
    if (last_of(call.callee, ".") != exported.name && !aliases_.contains({ref.file, call.callee}))
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

// Whether a function calls `object.name` of an object that is not a third-party module.
bool PythonPaths::calls_object(const FunctionRef& ref, std::string_view name, Of of) const {
  for (const python::Call& call : python_at(ref).calls) {
    if (last_of(call.callee, ".") != last_of(name, "::")) continue;
    const std::string callee = library_alias(ref, call.callee);
    // What TORCH_LIBRARY(library, …) defines is torch.ops.library.name, and nothing else is.
    const bool of_library = name.find("::") != std::string_view::npos;
    if (of_library || callee.starts_with("torch.ops.")) {
      if (is_library_call(callee, name)) return true;
      continue;
    }
    const std::string_view head =
        std::string_view(call.callee).substr(0, call.callee.find_first_of(".[("));
    if (head == "self" && of == Of::kModule && last_of(call.callee, "self.") == name) continue;
    const auto& imports = readings_.readings[ref.file].python.imports;
    const bool foreign =
        std::any_of(imports.begin(), imports.end(), [&](const python::Import& import) {
          // What stands beside the file and is no file is compiled from this repository.
          const bool beside = import.module.starts_with('.');
          return import.bound_to == head && !beside && !names_.resolve(head, ref.file);
        });
    if (!foreign) return true;
  }
  return false;
}

std::vector<PathHop> PythonPaths::python_chain(FunctionRef from, Certainty certainty) const {
  std::vector<PathHop> hops;
  std::set<FunctionRef> seen;
  for (std::optional<FunctionRef> at = from;
       at && seen.insert(*at).second && hops.size() < kMaxPythonHops;) {
    hops.push_back({PathHopKind::kPython,
                    qualified_name(python_at(*at)),
                    {at->file, python_at(*at).line_name},
                    certainty});
    if (is_public(*at)) break;
    at = python_caller(*at, certainty);
  }
  std::reverse(hops.begin(), hops.end());
  return hops;
}

std::optional<PythonPaths::FunctionRef> PythonPaths::python_caller(const FunctionRef& callee,
                                                                   Certainty& certainty) const {
  const python::Function& function = python_at(callee);
  if (const auto caller = member_caller(callee)) {
    certainty = Certainty::kLikely;
    return caller;
  }
  if (const auto caller = op_caller(callee, certainty)) return caller;
  const auto found = python_callers_.find(function.name);
  if (found == python_callers_.end()) return std::nullopt;
  std::optional<FunctionRef> by_name;
  for (const FunctionRef& caller : found->second) {
    if (caller == callee || is_test_or_benchmark(readings_.files[caller.file].path)) continue;
    for (const python::Call& call : python_at(caller).calls) {
      if (last_of(call.callee, ".") != function.name) continue;
      const auto resolved = names_.resolve(call.callee, caller.file);
      if (resolved && resolved->kind == PythonName::Kind::kFunction &&
          resolved->file == callee.file && resolved->index == callee.function) {
        certainty = Certainty::kCertain;
        return caller;
      }
    }
    if (!by_name && calls_object(caller, function.name, Of::kAnything)) by_name = caller;
  }
  // A method is known by its name alone only where no other function has it, of C++ neither.
  const bool shared = python_definitions_.find(function.name)->second > 1 ||
                      (!function.scope.empty() && types_.jit().files_exporting(function.name) > 0);
  if (shared) return std::nullopt;
  certainty = Certainty::kLikely;
  return by_name;
}

// Who calls torch.ops.library.name(…), which the function is registered as.
std::optional<PythonPaths::FunctionRef> PythonPaths::op_caller(const FunctionRef& callee,
                                                               Certainty& certainty) const {
  const PythonRef meant = {callee.file, static_cast<uint32_t>(callee.function)};
  for (const PythonOps::Op& op : ops_.of(meant)) {
    const auto found = python_callers_.find(op.name);
    if (found == python_callers_.end()) continue;
    for (const FunctionRef& caller : found->second) {
      if (is_test_or_benchmark(readings_.files[caller.file].path)) continue;
      for (const python::Call& call : python_at(caller).calls) {
        if (last_of(call.callee, ".") != op.name) continue;
        const std::string full = library_alias(caller, call.callee);
        const std::string any = "ANY::" + op.name, exact = op.library + "::" + op.name;
        if (!is_library_call(full, op.library.empty() ? any : exact)) continue;
        certainty = op.library.empty() ? Certainty::kLikely : Certainty::kCertain;
        return caller;
      }
    }
  }
  return std::nullopt;
}

// Who calls object.run(…), where the object is a SimpleNamespace(run=callee).
std::optional<PythonPaths::FunctionRef> PythonPaths::member_caller(
    const FunctionRef& callee) const {
  const auto members = members_.find({callee.file, python_at(callee).name});
  if (members == members_.end()) return std::nullopt;
  const PythonRef meant = {callee.file, static_cast<uint32_t>(callee.function)};
  for (const std::string_view member : members->second) {
    const auto found = python_callers_.find(member);
    if (found == python_callers_.end()) continue;
    for (const FunctionRef& caller : found->second) {
      if (is_test_or_benchmark(readings_.files[caller.file].path)) continue;
      for (const python::Call& call : python_at(caller).calls) {
        if (last_of(call.callee, ".") != member) continue;
        const PythonValues values =
            types_.evaluate(call.path.empty() ? call.callee : call.path, caller.file,
                            static_cast<uint32_t>(caller.function));
        const auto is_meant = [&](const PythonValue& value) {
          return value.kind == PythonValue::Kind::kFunction && value.ref == meant;
        };
        if (std::any_of(values.begin(), values.end(), is_meant)) return caller;
      }
    }
  }
  return std::nullopt;
}

bool PythonPaths::is_public(const FunctionRef& ref) const {
  return python_at(ref).scope.empty() && public_names_.contains(python_at(ref).name);
}

std::vector<PathHop> PythonPaths::cpp_callers_of(const PathHop& outermost) const {
  std::vector<PathHop> out;
  const auto& functions = readings_.readings[outermost.at.file].cpp.functions;
  for (size_t i = 0; i < functions.size(); ++i) {
    if (functions[i].line_name != outermost.at.line || !functions[i].defined) continue;
    const FunctionRef callee{outermost.at.file, i};
    const auto found = cpp_callers_.find(functions[i].name);
    if (found == cpp_callers_.end()) return out;
    for (const CppCaller& caller : found->second) {
      if (tries_left_ == 0) return {};
      --tries_left_;
      const auto& calls = readings_.readings[caller.function.file].usage.calls;
      const std::optional<Certainty> certainty = can_call(caller, callee);
      if (caller.function == callee || !certainty ||
          is_test_or_benchmark(readings_.files[caller.function.file].path))
        continue;
      for (const cpp::Call& call : calls[caller.function.function]) {
        if (call.name != caller.written) continue;
        out.push_back({PathHopKind::kCpp,
                       qualified(cpp_at(caller.function)),
                       {caller.function.file, call.line},
                       *certainty});
        break;
      }
    }
    return out;
  }
  return out;
}

std::vector<PathHop> PythonPaths::way_up_from(const PathHop& caller) const {
  constexpr size_t kHighest = 8;
  std::vector<PathHop> out;
  std::set<CodePlace> seen;
  const auto function_around = [&](const CodePlace& at) -> std::optional<PathHop> {
    const FileReading& reading = readings_.readings[at.file];
    std::optional<PathHop> found;
    for (const python::Function& function : reading.python.functions) {
      if (function.line_first <= at.line && at.line <= function.line_last)
        found = {PathHopKind::kPython, qualified_name(function), {at.file, function.line_name}, {}};
    }
    for (const cpp::Function& function : reading.cpp.functions) {
      if (function.defined && function.line_first <= at.line && at.line <= function.line_last)
        found = {PathHopKind::kCpp, qualified(function), {at.file, function.line_name}, {}};
    }
    return found;
  };
  for (PathHop at = caller; out.size() < kHighest;) {
    const auto function = function_around(at.at);
    if (!function || !seen.insert(function->at).second) break;
    const std::vector<PathHop> callers = callers_of(*function);
    if (callers.size() != 1) break;
    at = callers.front();
    out.push_back(at);
  }
  return out;
}

std::vector<PathHop> PythonPaths::callers_of(const PathHop& outermost) const {
  std::vector<PathHop> out;
  if (outermost.kind == PathHopKind::kCpp) return cpp_callers_of(outermost);
  const auto& functions = readings_.readings[outermost.at.file].python.functions;
  for (size_t i = 0; i < functions.size(); ++i) {
    if (functions[i].line_name != outermost.at.line) continue;
    const auto found = python_callers_.find(functions[i].name);
    if (found == python_callers_.end()) return out;
    const bool only_one = python_definitions_.find(functions[i].name)->second == 1;
    for (const FunctionRef& caller : found->second) {
      if (is_test_or_benchmark(readings_.files[caller.file].path) ||
          caller == FunctionRef{outermost.at.file, i})
        continue;
      for (const python::Call& call : python_at(caller).calls) {
        if (last_of(call.callee, ".") != functions[i].name) continue;
        const auto resolved = names_.resolve(call.callee, caller.file);
        const bool exact = resolved && resolved->kind == PythonName::Kind::kFunction &&
                           resolved->file == outermost.at.file && resolved->index == i;
        if (!exact && !only_one) continue;
        out.push_back({PathHopKind::kPython,
                       qualified_name(python_at(caller)),
                       {caller.file, call.line_first},
                       exact ? Certainty::kCertain : Certainty::kLikely});
        break;
      }
    }
    return out;
  }
  return out;
}

std::vector<PathHop> PythonPaths::to_python_function(uint32_t file, std::string_view name) const {
  const auto found = python_functions_[file].find(std::string(name));
  if (found == python_functions_[file].end()) return {};
  return python_chain({file, found->second.front()}, Certainty::kCertain);
}

}  // namespace fathom
