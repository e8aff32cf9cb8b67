#include "scan/link/python_calls.h"

#include <algorithm>

#include "base/text_parts.h"
#include "scan/files/code_purpose.h"

namespace fathom {
namespace {

using Kind = PythonValue::Kind;

// A method's name says which one is meant only where few have it.
constexpr size_t kMaxByName = 3;
constexpr size_t kMaxMeantSurely = 4;

std::string_view trailing_word(std::string_view callee) {
  size_t begin = callee.size();
  while (begin > 0 &&
         (std::isalnum(static_cast<unsigned char>(callee[begin - 1])) || callee[begin - 1] == '_'))
    --begin;
  return callee.substr(begin);
}

// Methods of lists, strings and tensors, whatever else is called so.
bool is_common_name(std::string_view name) {
  return name.starts_with("__") ||
         is_one_of(name, {"append", "extend", "get",    "put",    "items", "keys",   "values",
                          "update", "pop",    "add",    "join",   "split", "format", "close",
                          "open",   "read",   "write",  "copy",   "clear", "remove", "index",
                          "count",  "sort",   "start",  "stop",   "run",   "wait",   "set",
                          "view",   "to",     "encode", "decode", "size",  "reshape"});
}

// collective_rpc("execute_model"), run_method(worker, "x"): the method's name is a string.
bool calls_by_string(std::string_view name) {
  return holds(name, "rpc") || is_one_of(name, {"run_method", "call_method", "apply_method",
                                                "call_utility", "call_utility_async"});
}

// "ops.mine.norm" → "mine::norm"; empty: it is no function of torch.ops.
std::string library_name(std::string_view member) {
  if (!member.starts_with("ops.")) return "";
  member.remove_prefix(4);
  const size_t dot = member.find('.');
  if (dot == std::string_view::npos) return "";
  const std::string_view name = member.substr(dot + 1);
  return std::string(member.substr(0, dot)) + "::" + std::string(name.substr(0, name.find('.')));
}

}  // namespace

PythonCalls::PythonCalls(const Readings& readings, const PythonTypes& types)
    : readings_(readings), types_(types) {
  for (uint32_t file = 0; file < readings.files.size(); ++file) {
    const SourceFile& source = readings.files[file];
    if (source.language != Language::kPython || source.origin != Origin::kOwn ||
        is_test_or_example(source.path))
      continue;
    const auto& functions = readings.readings[file].python.functions;
    for (uint32_t i = 0; i < functions.size(); ++i) {
      if (!functions[i].scope.empty()) methods_[functions[i].name].push_back({file, i});
      for (const python::Call& call : functions[i].calls) {
        std::vector<PythonRef>& callers = callers_[std::string(trailing_word(call.callee))];
        if (callers.empty() || callers.back() != PythonRef{file, i}) callers.push_back({file, i});
      }
    }
  }
}

const std::vector<PythonRef>& PythonCalls::callers_by_name(std::string_view name) const {
  return value_or_empty(callers_, name);
}

const CallsOut& PythonCalls::calls_of(const PythonRef& function) const {
  const auto [at, fresh] = known_.try_emplace(function);
  if (!fresh) return at->second;
  CallsOut out;
  for (const python::Call& call : types_.classes().function(function).calls)
    add_call(call, function.file, function.index, out);
  add_handed(function, out);
  std::stable_sort(out.steps.begin(), out.steps.end(),
                   [](const CallStep& a, const CallStep& b) { return a.line < b.line; });
  // The map keeps its entries in place while others are added.
  return at->second = std::move(out);
}

CallsOut PythonCalls::calls_of_module(uint32_t file) const {
  CallsOut out;
  for (const python::Call& call : readings_.readings[file].python.module_calls)
    add_call(call, file, kPythonModuleLevel, out);
  return out;
}

void PythonCalls::add_call(const python::Call& call, uint32_t file, uint32_t function,
                           CallsOut& out) const {
  const bool cut = call.callee.starts_with("…");
  if (cut && call.path.empty()) return;
  const PythonValues values = types_.evaluate(cut ? call.path : call.callee, file, function);
  const size_t before = out.steps.size();
  for (const PythonValue& value : values) add_target(value, call, out);
  // A call that may mean so many says little of each.
  for (size_t i = before; i < out.steps.size() && out.steps.size() - before > kMaxMeantSurely; ++i)
    out.steps[i].certainty = Certainty::kUnsure;
  if (calls_by_string(trailing_word(call.callee))) add_named_in_string(call, out);
  const bool built = add_built(values, call, {file, function}, out);
  const bool is_abstract = std::ranges::any_of(values, [this](const PythonValue& value) {
    return value.kind == Kind::kFunction && types_.classes().is_abstract(value.ref);
  });
  if (is_abstract) out.open.push_back({call.callee, "", call.line_first, "", true});
  if (built || out.steps.size() > before) return;
  const size_t open = out.open.size();
  for (const PythonValue& value : values) {
    if (value.kind == Kind::kForeign)
      out.open.push_back({call.callee, value.module, call.line_first, library_name(value.member)});
  }
  if (out.open.size() != open) return;
  // What an import binds is no object whose method may be meant.
  const std::string_view head = std::string_view(call.callee).substr(0, call.callee.find('.'));
  if (types_.names().imports_of(head, file).empty()) add_by_name(call, out);
  out.open.push_back({call.callee, "", call.line_first, "", out.steps.size() > before});
}

void PythonCalls::add_target(const PythonValue& value, const python::Call& call,
                             CallsOut& out) const {
  const uint32_t line = call.line_first;
  if (value.kind == Kind::kFunction) {
    Reach how{ReachKind::kCalls};
    if (!value.through.empty())
      how = {ReachKind::kCallsInterface, types_.classes().function(value.ref).name, value.through};
    out.steps.push_back({value.ref, how, line, false, value.certainty});
  } else if (value.kind == Kind::kClass) {
    const auto init = types_.classes().find_method(value.ref, "__init__");
    if (init)
      out.steps.push_back({*init,
                           {ReachKind::kMakes, types_.classes().type(value.ref).name},
                           line,
                           true,
                           value.certainty});
  } else if (value.kind == Kind::kInstance) {
    for (const std::string_view method : {"__call__", "forward"}) {
      const auto found = types_.classes().find_method(value.ref, method);
      if (!found) continue;
      out.steps.push_back({*found,
                           {ReachKind::kCallsObject},
                           line,
                           false,
                           std::max(value.certainty, Certainty::kLikely)});
      break;
    }
  }
}

// module.run(…): of a module that is known to come from a function that builds it, or inside that
// function of an object that nobody else knows.
bool PythonCalls::add_built(const PythonValues& values, const python::Call& call,
                            const PythonRef& caller, CallsOut& out) const {
  const size_t before = out.built.size();
  for (const PythonValue& value : values) {
    if (value.kind != Kind::kBuilt || value.member.empty()) continue;
    if (!types_.jit().exported(value.ref, value.member).empty())
      out.built.push_back({value.ref, value.member, call.line_first, value.certainty});
  }
  const std::string_view name = trailing_word(call.callee);
  const bool own = std::any_of(values.begin(), values.end(), [](const PythonValue& value) {
    return value.kind == Kind::kFunction || value.kind == Kind::kClass;
  });
  if (out.built.size() > before || own || name.size() == call.callee.size() ||
      caller.index == kPythonModuleLevel)
    return out.built.size() > before;
  const auto builder = types_.builder_around(caller);
  if (!builder || types_.jit().exported(*builder, name).empty()) return false;
  out.built.push_back({*builder, std::string(name), call.line_first, Certainty::kLikely});
  return true;
}

void PythonCalls::add_by_name(const python::Call& call, CallsOut& out) const {
  const std::string_view name = trailing_word(call.callee);
  if (name.size() == call.callee.size() || is_common_name(name)) return;
  const auto found = methods_.find(name);
  if (found == methods_.end() || found->second.size() > kMaxByName) return;
  const bool only = found->second.size() == 1;
  for (const PythonRef& method : found->second) {
    out.steps.push_back({method,
                         {only ? ReachKind::kCallsOnlyMethod : ReachKind::kCallsSomeMethod},
                         call.line_first,
                         false,
                         only ? Certainty::kLikely : Certainty::kUnsure});
  }
}

void PythonCalls::add_named_in_string(const python::Call& call, CallsOut& out) const {
  for (const python::Argument& argument : call.arguments) {
    const auto text = python::string_content(argument.text);
    if (!text) continue;
    const auto found = methods_.find(*text);
    if (found == methods_.end()) continue;
    // A call that goes to all workers means theirs.
    std::vector<PythonRef> meant = found->second;
    std::vector<PythonRef> workers;
    for (const PythonRef& method : meant) {
      const std::string& scope = types_.classes().function(method).scope;
      if (holds(scope, "Worker") && !types_.classes().is_abstract(method))
        workers.push_back(method);
    }
    if (!workers.empty()) meant = workers;
    if (meant.size() > 8) continue;
    for (const PythonRef& method : meant)
      out.steps.push_back(
          {method, {ReachKind::kNamesInString}, call.line_first, false, Certainty::kUnsure});
  }
}

// Process(target=f), executor.submit(f)
void PythonCalls::add_handed(const PythonRef& function, CallsOut& out) const {
  for (const python::ValueFlow& flow : types_.classes().flows_in(function)) {
    if (flow.kind != python::FlowKind::kHand || flow.target.ends_with("Decoder")) continue;
    for (const PythonValue& value : types_.evaluate(flow.value, function.file, function.index)) {
      if (value.kind == Kind::kInstance && flow.target == "compile") {
        if (const auto method = types_.classes().find_method(value.ref, "__call__"))
          out.steps.push_back(
              {*method, {ReachKind::kCompiles}, flow.line, false, Certainty::kLikely});
        continue;
      }
      if (value.kind != Kind::kFunction) continue;
      out.steps.push_back({value.ref,
                           {ReachKind::kStarts, flow.target},
                           flow.line,
                           false,
                           std::max(value.certainty, Certainty::kCertain)});
    }
  }
}

}  // namespace fathom
