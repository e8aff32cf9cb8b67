// The way further up from a function: the callers that PythonPaths follows.
#include <algorithm>

#include "scan/facts/code_names.h"
#include "scan/files/code_purpose.h"
#include "scan/link/cpp_calls.h"
#include "scan/link/python_paths.h"

namespace fathom {
namespace {

constexpr size_t kMaxPythonHops = 8;

}  // namespace

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
      if (last_part(call.callee) != function.name) continue;
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
        if (last_part(call.callee) != op.name) continue;
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
        if (last_part(call.callee) != member) continue;
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
        if (call.name != caller.call->name) continue;
        out.push_back({PathHopKind::kCpp,
                       qualified_name(cpp_at(caller.function)),
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
        found = {PathHopKind::kCpp, qualified_name(function), {at.file, function.line_name}, {}};
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
        if (last_part(call.callee) != functions[i].name) continue;
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

}  // namespace fathom
