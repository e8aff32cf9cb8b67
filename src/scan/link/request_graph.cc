#include "scan/link/request_graph.h"

#include <algorithm>

#include "base/tsv.h"
#include "scan/facts/code_names.h"
#include "scan/files/code_purpose.h"

extern const std::string_view kernel_libraries_tsv;
extern const std::string_view python_standard_modules_tsv;

namespace fathom {
namespace {

// A name that more libraries bind says nothing.
constexpr size_t kMaxBindings = 4;

// "TORCH_EXTENSION_NAME::norm" → "*::norm": a macro names the library.
std::string any_library(const std::string& exported) {
  const size_t colons = exported.find("::");
  if (colons == std::string::npos || colons < 3) return exported;
  const auto small = [](unsigned char c) { return std::islower(c) != 0; };
  const auto end = exported.begin() + static_cast<std::ptrdiff_t>(colons);
  const bool macro = std::none_of(exported.begin(), end, small);
  return macro ? "*" + exported.substr(colons) : exported;
}

bool is_function(const RequestNode& node) { return !node.cpp && node.index != kPythonModuleLevel; }

}  // namespace

RequestGraph::RequestGraph(const Readings& readings, const PythonNames& names,
                           const PythonTypes& types, const SymbolIndex& index,
                           const CodeFacts& facts)
    : readings_(readings),
      names_(names),
      types_(types),
      index_(index),
      calls_(readings, types),
      cpp_(readings, index),
      messages_(readings, calls_),
      extensions_(readings),
      ops_(readings, names) {
  for (const auto& row : read_tsv(python_standard_modules_tsv, 1)) standard_.insert(row[0]);
  for (const auto& row : read_tsv(kernel_libraries_tsv, 2)) libraries_.insert(row[0]);
  for (const DependencyFacts& dependency : facts.dependencies) {
    std::string module = dependency.name;
    std::replace(module.begin(), module.end(), '-', '_');
    if (dependency.at.line != 0) installed_.insert(module);
  }
  for (uint32_t file = 0; file < readings.files.size(); ++file) {
    for (const cpp::Binding& binding : readings.readings[file].usage.bindings)
      bindings_[any_library(binding.exported)].push_back(
          {binding.target, binding.via, {file, binding.line}});
  }
}

std::vector<RequestStep> RequestGraph::steps_from(const RequestNode& at,
                                                  const std::vector<PythonRef>& before,
                                                  const std::vector<uint32_t>& unit) const {
  std::vector<RequestStep> out;
  const auto add_steps = [&](const std::vector<CallStep>& steps) {
    for (const CallStep& step : steps)
      out.push_back({{false, step.to.file, step.to.index},
                     step.how,
                     step.line,
                     step.certainty,
                     step.constructs});
  };
  if (at.cpp) {
    for (const CppStep& step : cpp_.calls_of({at.file, at.index}, unit))
      out.push_back({{true, step.to.file, step.to.index},
                     step.specialisations == 1
                         ? Reach{ReachKind::kCalls}
                         : Reach{.kind = ReachKind::kCallsSpecialised,
                                 .count = static_cast<uint32_t>(step.specialisations)},
                     step.line,
                     step.certainty,
                     step.constructs,
                     unit});
  } else if (at.index == kPythonModuleLevel) {
    add_steps(calls_.calls_of_module(at.file).steps);
  } else {
    const PythonRef ref = {at.file, at.index};
    add_steps(calls_.calls_of(ref).steps);
    add_steps(messages_.receivers_of(ref, before));
    add_bound(at, out);
    add_built(at, out);
    add_inner(at, out);
  }
  std::erase_if(out, [&](const RequestStep& step) {
    const SourceFile& file = readings_.files[step.to.file];
    // What a generator wrote into the repository is built like what people wrote.
    const bool own = file.origin == Origin::kOwn || file.origin == Origin::kGenerated;
    return !own || (!step.to.cpp && is_test_or_example(file.path));
  });
  return out;
}

// extension.fwd(…), torch.ops.library.fwd(…): a C++ function that a binding exports by this name.
void RequestGraph::add_bound(const RequestNode& at, std::vector<RequestStep>& out) const {
  for (const OpenCall& call : calls_.calls_of({at.file, at.index}).open) {
    add_ops(call, out);
    const std::vector<BoundFunction> bounds = bindings_meant(call);
    if (bounds.size() > kMaxBindings) continue;
    std::set<CppRef> seen;
    for (const BoundFunction& bound : bounds) {
      for (const CppRef& ref : cpp_.named(bound.target, bound.at.file)) {
        if (ref.file != bound.at.file && bounds.size() > 1) continue;
        if (!seen.insert(ref).second) continue;
        out.push_back({{true, ref.file, ref.index},
                       {.kind = ReachKind::kCallsBinding, .owner = bound.via, .at = bound.at},
                       call.line,
                       bounds.size() == 1 ? Certainty::kLikely : Certainty::kUnsure,
                       false,
                       extensions_.sources_with(bound.at.file)});
      }
    }
  }
}

// torch.ops.library.name(…) that a function of Python is registered as.
void RequestGraph::add_ops(const OpenCall& call, std::vector<RequestStep>& out) const {
  const size_t colons = call.library_name.find("::");
  if (colons == std::string::npos) return;
  const std::string_view full = call.library_name;
  const std::vector<PythonOps::Op> ops =
      ops_.named(full.substr(0, colons), full.substr(colons + 2));
  if (ops.size() > kMaxBindings) return;
  for (const PythonOps::Op& op : ops) {
    const bool sure = ops.size() == 1 && !op.library.empty();
    out.push_back({{false, op.function.file, op.function.index},
                   {ReachKind::kCalls},
                   call.line,
                   sure ? Certainty::kCertain : Certainty::kLikely});
  }
}

std::vector<BoundFunction> RequestGraph::bindings_meant(const OpenCall& call) const {
  const auto named = [this](std::string_view name) {
    const auto found = bindings_.find(name);
    return found == bindings_.end() ? std::vector<BoundFunction>() : found->second;
  };
  if (!call.library_name.empty()) {
    std::vector<BoundFunction> out = named(call.library_name);
    // TORCH_LIBRARY(TORCH_EXTENSION_NAME, m): the library may be any.
    const size_t colons = call.library_name.find("::");
    return out.empty() ? named("*" + call.library_name.substr(colons)) : out;
  }
  const size_t dot = call.callee.rfind('.');
  const std::string_view package = std::string_view(call.module).substr(0, call.module.find('.'));
  if (dot == std::string::npos || package.empty() || standard_.contains(package)) return {};
  // What is installed is not what this repository builds.
  if (installed_.contains(package)) return {};
  return of_module(named(std::string_view(call.callee).substr(dot + 1)), call);
}

// Those that are built into the module that is called; where no file says what it is built into,
// all of them.
std::vector<BoundFunction> RequestGraph::of_module(const std::vector<BoundFunction>& bounds,
                                                   const OpenCall& call) const {
  std::vector<BoundFunction> known, unknown;
  for (const BoundFunction& bound : bounds) {
    const std::vector<std::string>& modules = extensions_.of(bound.at.file);
    if (modules.empty()) unknown.push_back(bound);
    if (std::find(modules.begin(), modules.end(), last_part(call.module)) != modules.end())
      known.push_back(bound);
  }
  // Others' libraries have functions of the same names.
  const std::string_view package = std::string_view(call.module).substr(0, call.module.find('.'));
  return known.empty() && !libraries_.contains(package) ? unknown : known;
}

// module.run(…) of a module that a Python function builds of C++ sources.
void RequestGraph::add_built(const RequestNode& at, std::vector<RequestStep>& out) const {
  for (const BuiltCall& call : calls_.calls_of({at.file, at.index}).built) {
    const std::vector<BoundFunction> bounds = types_.jit().exported(call.builder, call.name);
    for (const BoundFunction& bound : bounds) {
      const std::vector<CppRef> functions = functions_of(call, bound);
      for (const CppRef& ref : functions) {
        const bool sure = bounds.size() == 1 && functions.size() == 1;
        out.push_back({{true, ref.file, ref.index},
                       {.kind = ReachKind::kCallsBuilt,
                        .name = call.name,
                        .owner = types_.classes().function(call.builder).name,
                        .at = bound.at},
                       call.line,
                       sure ? std::max(call.certainty, Certainty::kLikely) : Certainty::kUnsure,
                       false,
                       types_.jit().sources_of(call.builder)});
      }
    }
  }
}

// In the module's own sources, else in what they include, else wherever the only one stands.
std::vector<CppRef> RequestGraph::functions_of(const BuiltCall& call,
                                               const BoundFunction& bound) const {
  const std::vector<uint32_t>& sources = types_.jit().sources_of(call.builder);
  std::vector<CppRef> own, included, all = cpp_.named(bound.target, bound.at.file);
  for (const CppRef& ref : all) {
    if (std::binary_search(sources.begin(), sources.end(), ref.file)) own.push_back(ref);
    if (std::any_of(sources.begin(), sources.end(),
                    [&](uint32_t source) { return index_.includes().sees(source, ref.file); }))
      included.push_back(ref);
  }
  if (!own.empty()) return own;
  if (!included.empty()) return included;
  return all.size() == 1 ? all : std::vector<CppRef>();
}

// A function inside another, which hands it on to whoever calls it.
void RequestGraph::add_inner(const RequestNode& at, std::vector<RequestStep>& out) const {
  const auto& functions = readings_.readings[at.file].python.functions;
  const std::string scope = qualified_name(functions[at.index]);
  // What SimpleNamespace(run=inner) hands on is followed from whoever calls run.
  std::set<std::string> members;
  for (const python::ValueFlow& flow : types_.classes().flows_in({at.file, at.index})) {
    if (flow.kind == python::FlowKind::kMember) members.insert(flow.value);
  }
  for (uint32_t i = at.index + 1; i < functions.size(); ++i) {
    if (functions[i].line_first > functions[at.index].line_last) break;
    if (functions[i].scope == scope && !members.contains(functions[i].name))
      out.push_back({{false, at.file, i},
                     {ReachKind::kDefines},
                     functions[i].line_name,
                     Certainty::kLikely,
                     true});
  }
}

uint32_t RequestGraph::lost_message_at(const RequestNode& node) const {
  return is_function(node) ? messages_.lost_at({node.file, node.index}) : 0;
}

const std::vector<OpenCall>& RequestGraph::open_calls(const RequestNode& node) const {
  static const std::vector<OpenCall> none;
  return is_function(node) ? calls_.calls_of({node.file, node.index}).open : none;
}

std::string RequestGraph::unbound_call(const RequestNode& node) const {
  if (!is_function(node)) return "";
  for (const BuiltCall& call : calls_.calls_of({node.file, node.index}).built) {
    for (const BoundFunction& bound : types_.jit().exported(call.builder, call.name)) {
      if (functions_of(call, bound).empty())
        return "calls " + call.name + " of the module built by " +
               types_.classes().function(call.builder).name + " (" +
               place_text({node.file, call.line}) + "), bound to " + bound.target + " (" +
               place_text(bound.at) + "), which is not found in the module's sources";
    }
  }
  return "";
}

std::string_view RequestGraph::plain_name(const RequestNode& node) const {
  if (node.cpp) return cpp_.function({node.file, node.index}).name;
  if (node.index == kPythonModuleLevel) return {};
  return types_.classes().function({node.file, node.index}).name;
}

std::string RequestGraph::name_of(const RequestNode& node) const {
  if (node.cpp) return qualified_name(cpp_.function({node.file, node.index}));
  if (node.index == kPythonModuleLevel) return names_.module_of(node.file);
  return qualified_name(types_.classes().function({node.file, node.index}));
}

CodePlace RequestGraph::place_of(const RequestNode& node) const {
  if (node.cpp) return {node.file, cpp_.function({node.file, node.index}).line_name};
  if (node.index == kPythonModuleLevel) return {node.file, 1};
  return {node.file, types_.classes().function({node.file, node.index}).line_name};
}

std::string RequestGraph::place_text(const CodePlace& at) const {
  return readings_.files[at.file].path + ":" + std::to_string(at.line);
}

}  // namespace fathom
