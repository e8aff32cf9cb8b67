#include "scan/link/python_paths.h"

#include <algorithm>
#include <cctype>
#include <deque>

#include "scan/facts/code_names.h"
#include "scan/link/cpp_calls.h"

namespace fathom {
namespace {

// The way up is searched this far: beyond it names repeat more than calls do.
constexpr size_t kMaxSearched = 400, kMaxSearchTries = 20000;  // of one search
// And of all searches together: many functions of one name with many callers are their product.
constexpr size_t kLeastTries = 20000, kTriesOfCall = 64;

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

}  // namespace

PythonPaths::PythonPaths(const Readings& readings, const SymbolIndex& index,
                         const PythonNames& names, const PythonTypes& types)
    : readings_(readings),
      index_(index),
      names_(names),
      types_(types),
      receivers_(readings, index),
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
  resolve_exports();
  index_holders();
}

void PythonPaths::index_cpp(uint32_t file) {
  const FileReading& reading = readings_.readings[file];
  for (size_t i = 0; i < reading.usage.calls.size(); ++i) {
    for (const cpp::Call& call : reading.usage.calls[i]) {
      std::vector<CppCaller>& callers = cpp_callers_[last_name(call.name)];
      const FunctionRef caller = {file, i};
      if (callers.empty() || callers.back().function != caller ||
          callers.back().call->name != call.name ||
          callers.back().call->receiver != call.receiver) {
        tries_left_ += kTriesOfCall;
        callers.push_back({caller, &call});
      }
    }
  }
  for (size_t i = 0; i < reading.cpp.functions.size(); ++i) {
    const cpp::Function& function = reading.cpp.functions[i];
    if (!function.defined) continue;
    cpp_functions_[file].try_emplace(qualified_name(function), i);
    if (!function.scope.empty() && is_method(function)) ++methods_[function.name];
  }
  for (const cpp::Binding& binding : reading.usage.bindings) {
    exports_.push_back({binding.exported,
                        plain_name(binding.target),
                        binding.via,
                        {file, binding.line},
                        false,
                        ""});
  }
}

void PythonPaths::index_python(uint32_t file) {
  const python::PythonFile& python = readings_.readings[file].python;
  for (size_t i = 0; i < python.functions.size(); ++i) {
    for (const python::Call& call : python.functions[i].calls) {
      std::vector<FunctionRef>& callers = python_callers_[last_part(call.callee)];
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
    exports_.push_back(
        {"", plain_name(literal.text), literal.text, {file, literal.line}, true, literal.function});
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

std::vector<PathHop> PythonPaths::to_cpp_function(uint32_t file, std::string_view name) const {
  const auto found = cpp_functions_[file].find(std::string(name));
  if (found == cpp_functions_[file].end()) return {};
  const Exported* exported = nullptr;
  const FunctionRef start = {file, found->second};
  const std::vector<ChainLink> chain = cpp_chain_to_export(start, exported);
  std::vector<PathHop> hops;
  if (exported != nullptr) {
    Certainty certainty = Certainty::kLikely;
    if (const auto user = python_user(*exported, certainty)) hops = python_chain(*user, certainty);
    if (exported->from_python) {
      // A name in a text: what becomes of it is not followed.
      hops.push_back({PathHopKind::kJitGenerator, exported->via, exported->at, Certainty::kUnsure});
    } else {
      hops.push_back({PathHopKind::kBinding, exported->name, exported->at, Certainty::kCertain,
                      exported->via});
    }
  }
  for (const auto& [ref, called] : chain) {
    // The last one launches, which is certain; whether the others run is a matter of names.
    const Certainty certainty =
        ref == start ? Certainty::kCertain : std::max(called, Certainty::kLikely);
    hops.push_back({PathHopKind::kCpp,
                    qualified_name(cpp_at(ref)),
                    {ref.file, cpp_at(ref).line_name},
                    certainty});
  }
  return hops;
}

// Breadth first through the callers until one is exported; without any, the start alone.
std::vector<PythonPaths::ChainLink> PythonPaths::cpp_chain_to_export(
    const FunctionRef& start, const Exported*& exported) const {
  // A function → what it calls on the way down, and how sure that is.
  std::map<FunctionRef, std::pair<FunctionRef, Certainty>> called_from;
  std::deque<FunctionRef> queue = {start};
  called_from[start] = {start, Certainty::kCertain};
  size_t tries = 0;
  while (!queue.empty() && called_from.size() < kMaxSearched) {
    const FunctionRef at = queue.front();
    queue.pop_front();
    exported = exported_as(at);
    if (exported != nullptr) {
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
  if (caller.call->member) {
    const CppRef from = {caller.function.file, static_cast<uint32_t>(caller.function.function)};
    if (const auto known = receivers_.methods(*caller.call, from)) {
      for (const CppReceivers::Method& one : *known) {
        if (one.function.file == callee.file && one.function.index == callee.function)
          return one.certainty;
      }
      return std::nullopt;
    }
    const bool only = is_method(function) && methods_.find(function.name)->second == 1;
    return only ? std::optional(Certainty::kLikely) : std::nullopt;
  }
  return means(caller.call->name, {caller.function.file, cpp_at(caller.function).scope}, callee);
}

bool PythonPaths::is_method(const cpp::Function& function) const {
  return class_names_.contains(last_name(function.scope));
}

// Each export once, so that hundreds of modules may export one name.
void PythonPaths::resolve_exports() {
  constexpr size_t kMostMeant = 24;  // which of more it is stays open
  for (size_t i = 0; i < exports_.size(); ++i) {
    const Exported& exported = exports_[i];
    // A generator's text is compiled with sources that only the program knows.
    if (exported.from_python) {
      generated_.try_emplace(exported.target, i);
      continue;
    }
    for (const SymbolKind kind :
         {SymbolKind::kHostFunction, SymbolKind::kDeviceFunction, SymbolKind::kKernel}) {
      const auto& meant = index_.resolve(exported.target, {exported.at.file}, kind);
      for (size_t k = 0; k < meant.size() && meant.size() <= kMostMeant; ++k)
        exported_symbols_.try_emplace(meant[k].symbol.value, i);
    }
  }
}

const PythonPaths::Exported* PythonPaths::exported_as(const FunctionRef& ref) const {
  const SymbolId symbol = index_.function(ref.file, static_cast<uint32_t>(ref.function));
  const auto bound = exported_symbols_.find(symbol.value);
  size_t first = bound == exported_symbols_.end() ? SIZE_MAX : bound->second;
  const std::string full = qualified_name(cpp_at(ref));
  for (std::string_view name = full; !generated_.empty(); name.remove_prefix(2)) {
    const auto found = generated_.find(name);
    if (found != generated_.end()) first = std::min(first, found->second);
    const size_t colons = name.find("::");
    if (colons == std::string_view::npos) break;
    name.remove_prefix(colons);
  }
  return first == SIZE_MAX ? nullptr : &exports_[first];
}

std::vector<PathHop> PythonPaths::to_python_function(uint32_t file, std::string_view name) const {
  const auto found = python_functions_[file].find(std::string(name));
  if (found == python_functions_[file].end()) return {};
  return python_chain({file, found->second.front()}, Certainty::kCertain);
}

}  // namespace fathom
