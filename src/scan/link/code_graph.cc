#include "scan/link/code_graph.h"

#include <algorithm>

#include "base/tsv.h"
#include "scan/facts/code_names.h"
#include "scan/facts/text_lines.h"
#include "scan/files/code_purpose.h"
#include "scan/link/uses.h"

extern const std::string_view kernel_libraries_tsv;

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

// "ns::Class<int, {args}>::run" → "ns::Class::run"
std::string without_template_arguments(std::string_view written) {
  std::string out;
  int depth = 0;
  for (const char c : written) {
    if (c == '<') ++depth;
    if (depth == 0 && (is_word_character(c) || c == ':')) out += c;
    if (c == '>') --depth;
  }
  return out;
}

bool is_function(const FunctionNode& node) { return !node.cpp && node.index != kPythonModuleLevel; }

}  // namespace

CodeGraph::CodeGraph(const Readings& readings, const PythonNames& names, const PythonTypes& types,
                     const SymbolIndex& index, const ClassTree& classes,
                     const FunctionPlaces& places, const std::vector<DependencyFacts>& dependencies)
    : readings_(readings),
      names_(names),
      types_(types),
      index_(index),
      places_(places),
      calls_(readings, types),
      cpp_(index, classes),
      messages_(readings, calls_),
      extensions_(readings),
      ops_(readings, names) {
  for (const auto& row : read_tsv(kernel_libraries_tsv, 2)) libraries_.insert(row[0]);
  for (const DependencyFacts& dependency : dependencies) {
    std::string module = dependency.name;
    std::replace(module.begin(), module.end(), '-', '_');
    if (dependency.at.line != 0) installed_.insert(module);
  }
  for (uint32_t file = 0; file < readings.files.size(); ++file) {
    for (const cpp::Binding& binding : readings.readings[file].usage.bindings) {
      bindings_[any_library(binding.exported)].push_back({&binding, file});
      for (const FunctionNode& ref : cpp_.named(binding.target, file, CppCalls::Of::kAnyKind))
        exports_.try_emplace(ref, BoundFunction{&binding, file});
    }
  }
}

const BoundFunction* CodeGraph::exported_as(const FunctionNode& node) const {
  return find_value(exports_, node);
}

const std::vector<CallerEdge>& CodeGraph::callers() const {
  if (callers_) return *callers_;
  callers_.emplace();
  const auto add = [this](const FunctionNode& from) {
    for (const GraphStep& step : edges_from(from, {}))
      callers_->push_back({step.to, from, step.line, step.how.kind, step.certainty, step.bound});
  };
  for (uint32_t file = 0; file < readings_.files.size(); ++file) {
    const FileReading& reading = readings_.readings[file];
    for (uint32_t i = 0; i < reading.python.functions.size(); ++i) add({false, file, i});
    for (uint32_t i = 0; i < reading.usage.references.size(); ++i) add({true, file, i});
    add_held(file);
    add_named(file);
  }
  std::stable_sort(callers_->begin(), callers_->end(),
                   [](const CallerEdge& a, const CallerEdge& b) { return a.to < b.to; });
  return *callers_;
}

std::span<const CallerEdge> CodeGraph::edges_to(const FunctionNode& node) const {
  const auto [first, last] = std::ranges::equal_range(callers(), node, {}, &CallerEdge::to);
  return {first, last};
}

namespace {

void add_steps(const std::vector<CallStep>& steps, std::vector<GraphStep>& out) {
  for (const CallStep& step : steps)
    out.push_back({{false, step.to.file, step.to.index},
                   step.how,
                   step.line,
                   step.certainty,
                   step.constructs});
}

}  // namespace

std::vector<GraphStep> CodeGraph::edges_from(const FunctionNode& at,
                                             const std::vector<uint32_t>& unit) const {
  std::vector<GraphStep> out;
  if (at.cpp) {
    for (const CppStep& step : cpp_.calls_of(at, unit))
      out.push_back({cpp_.node(step.to),
                     step.specialisations == 1
                         ? Reach{ReachKind::kCalls}
                         : Reach{.kind = ReachKind::kCallsSpecialised,
                                 .count = static_cast<uint32_t>(step.specialisations)},
                     step.line, step.certainty, step.constructs, unit});
  } else if (at.index == kPythonModuleLevel) {
    add_steps(calls_.calls_of_module(at.file).steps, out);
  } else {
    add_steps(calls_.calls_of({at.file, at.index}).steps, out);
    add_bound(at, out);
    add_built(at, out);
    add_inner(at, out);
  }
  return out;
}

std::vector<GraphStep> CodeGraph::steps_from(const FunctionNode& at,
                                             const std::vector<PythonRef>& before,
                                             const std::vector<uint32_t>& unit) const {
  std::vector<GraphStep> out = edges_from(at, unit);
  if (is_function(at)) add_steps(messages_.receivers_of({at.file, at.index}, before), out);
  std::erase_if(out, [&](const GraphStep& step) {
    const SourceFile& file = readings_.files[step.to.file];
    // What a generator wrote into the repository is built like what people wrote.
    const bool own = file.origin == Origin::kOwn || file.origin == Origin::kGenerated;
    return !own || step.how.is(ReachKind::kNone) || (!step.to.cpp && is_test_or_example(file.path));
  });
  return out;
}

// extension.fwd(…), torch.ops.library.fwd(…): a C++ function that a binding exports by this name.
void CodeGraph::add_bound(const FunctionNode& at, std::vector<GraphStep>& out) const {
  for (const OpenCall& call : calls_.calls_of({at.file, at.index}).open) {
    add_ops(call, out);
    const bool of_library = !call.library_name.empty();
    std::vector<BoundFunction> bounds = bindings_meant(call, at.file);
    const bool known = !bounds.empty();
    if (!known && !of_library) bounds = bindings_named(call, at.file);
    if (bounds.size() > kMaxBindings && !of_library) continue;
    std::set<FunctionNode> seen;
    for (const BoundFunction& bound : bounds) {
      const bool imported = known || is_imported(call.callee, at.file, bound);
      for (const FunctionNode& ref : cpp_.named(bound.binding->target, bound.file)) {
        if (ref.file != bound.file && bounds.size() > 1 && !of_library) continue;
        if (!seen.insert(ref).second) continue;
        out.push_back({ref,
                       {.kind = imported ? ReachKind::kCallsBinding : ReachKind::kNone,
                        .owner = bound.binding->via,
                        .at = bound.at()},
                       call.line,
                       of_library || (bounds.size() == 1 && imported) ? Certainty::kLikely
                                                                      : Certainty::kUnsure,
                       false,
                       extensions_.sources_with(bound.file),
                       bound});
      }
    }
  }
}

bool CodeGraph::is_imported(std::string_view callee, uint32_t file,
                            const BoundFunction& bound) const {
  const size_t dot = callee.rfind('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view object = last_part(callee.substr(0, dot));
  if (!extensions_.of(bound.file).empty())
    return extensions_.is_imported_as(object, file, bound.file);
  // from . import _C: what stands beside the file and is no file is compiled from this repository.
  const auto imports = names_.imports_of(object, file);
  return !imports.empty() && imports[0]->module.starts_with('.') && !names_.resolve(object, file);
}

// object.fwd of the module that the object is imported as; else, of an object that nobody knows, of
// the modules that nobody is known to import.
std::vector<BoundFunction> CodeGraph::bindings_named(const OpenCall& call, uint32_t file) const {
  std::vector<BoundFunction> imported, open;
  const std::string_view callee = call.callee;
  const size_t dot = callee.rfind('.');
  const std::string_view object = callee.substr(0, std::min(dot, callee.size()));
  if (dot == std::string_view::npos || object == "self") return open;
  for (const BoundFunction& bound : value_or_empty(bindings_, callee.substr(dot + 1))) {
    const bool built = !types_.jit().builders_of(bound.file).empty();
    const bool common = built && types_.jit().files_exporting(bound.binding->exported) > 1;
    if (is_imported(callee, file, bound))
      imported.push_back(bound);
    else if (call.module.empty() && extensions_.of(bound.file).empty() && !common)
      open.push_back(bound);
  }
  return imported.empty() ? open : imported;
}

// torch.ops.library.name(…) that a function of Python is registered as.
void CodeGraph::add_ops(const OpenCall& call, std::vector<GraphStep>& out) const {
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

std::vector<BoundFunction> CodeGraph::bindings_meant(const OpenCall& call, uint32_t file) const {
  const auto named = [this](std::string_view name) { return value_or_empty(bindings_, name); };
  if (!call.library_name.empty()) {
    std::vector<BoundFunction> out = named(call.library_name);
    // TORCH_LIBRARY(TORCH_EXTENSION_NAME, m): the library may be any.
    const size_t colons = call.library_name.find("::");
    return out.empty() ? named("*" + call.library_name.substr(colons)) : out;
  }
  const std::string_view package = std::string_view(call.module).substr(0, call.module.find('.'));
  // What these return is compiled code, which no module names.
  if (is_one_of(call.module, {"ctypes", "cffi", "torch.utils.cpp_extension"})) {
    std::vector<BoundFunction> bounds = of_module(named(last_part(call.callee)), call);
    // A file that builds modules of its own texts calls these.
    const auto is_own = [file](const BoundFunction& bound) { return bound.file == file; };
    if (std::ranges::any_of(bounds, is_own)) std::erase_if(bounds, std::not_fn(is_own));
    return bounds;
  }
  if (package.empty() || standard_modules().contains(package)) return {};
  // What is installed is not what this repository builds.
  if (installed_.contains(package) && !extensions_.builds(last_part(call.module))) return {};
  return of_module(named(last_part(call.callee)), call);
}

// Those that are built into the module that is called; where no file says what it is built into,
// all of them.
std::vector<BoundFunction> CodeGraph::of_module(const std::vector<BoundFunction>& bounds,
                                                const OpenCall& call) const {
  std::vector<BoundFunction> known, unknown;
  for (const BoundFunction& bound : bounds) {
    const std::vector<std::string>& modules = extensions_.of(bound.file);
    // What is built when the program runs has no name to import.
    if (modules.empty() && types_.jit().builders_of(bound.file).empty()) unknown.push_back(bound);
    if (contains(modules, last_part(call.module))) known.push_back(bound);
  }
  // Others' libraries have functions of the same names.
  const std::string_view package = std::string_view(call.module).substr(0, call.module.find('.'));
  return known.empty() && !libraries_.contains(package) ? unknown : known;
}

// module.run(…) of a module that a Python function builds of C++ sources.
void CodeGraph::add_built(const FunctionNode& at, std::vector<GraphStep>& out) const {
  for (const BuiltCall& call : calls_.calls_of({at.file, at.index}).built) {
    const std::vector<BoundFunction> bounds = types_.jit().exported(call.builder, call.name);
    for (const BoundFunction& bound : bounds) {
      const std::vector<FunctionNode> functions = functions_of(call, bound);
      for (const FunctionNode& ref : functions) {
        const bool sure = bounds.size() == 1 && functions.size() == 1;
        out.push_back({ref,
                       {.kind = ReachKind::kCallsBuilt,
                        .name = call.name,
                        .owner = types_.classes().function(call.builder).name,
                        .at = bound.at()},
                       call.line,
                       sure ? std::max(call.certainty, Certainty::kLikely) : Certainty::kUnsure,
                       false,
                       types_.jit().sources_of(call.builder),
                       bound});
      }
    }
  }
}

// In the module's own sources, else in what they include, else wherever the only one stands.
std::vector<FunctionNode> CodeGraph::functions_of(const BuiltCall& call,
                                                  const BoundFunction& bound) const {
  const std::vector<uint32_t>& sources = types_.jit().sources_of(call.builder);
  std::vector<FunctionNode> own, included, all = cpp_.named(bound.binding->target, bound.file);
  for (const FunctionNode& ref : all) {
    if (std::binary_search(sources.begin(), sources.end(), ref.file)) own.push_back(ref);
    if (std::any_of(sources.begin(), sources.end(),
                    [&](uint32_t source) { return index_.includes().sees(source, ref.file); }))
      included.push_back(ref);
  }
  if (!own.empty()) return own;
  if (!included.empty()) return included;
  return all.size() == 1 ? all : std::vector<FunctionNode>();
}

// A function inside another, which hands it on to whoever calls it.
void CodeGraph::add_inner(const FunctionNode& at, std::vector<GraphStep>& out) const {
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

// apply(extension.fwd, …), self.f = extension.fwd: what is handed on is likely run.
void CodeGraph::add_held(uint32_t file) const {
  const python::PythonFile& python = readings_.readings[file].python;
  const auto add = [&](std::string_view value, uint32_t function, uint32_t line) {
    const std::vector<BoundFunction> bounds = bindings_named({std::string(value), "", line}, file);
    if (bounds.size() != 1) return;
    const Certainty certainty =
        is_imported(value, file, bounds[0]) ? Certainty::kLikely : Certainty::kUnsure;
    for (const FunctionNode& ref : cpp_.named(bounds[0].binding->target, bounds[0].file))
      callers_->push_back(
          {ref, {false, file, function}, line, ReachKind::kNone, certainty, bounds[0]});
  };
  for (const python::ValueFlow& flow : python.flows) {
    if (flow.kind == python::FlowKind::kAssign && flow.function != kPythonModuleLevel)
      add(flow.value, flow.function, flow.line);
  }
  for (const python::HandedName& handed : python.handed) {
    if (const auto function = types_.names().find_function(file, handed.function))
      add(handed.name, function->index, handed.line_first);
  }
}

// A generator of code names the function that it exports in a literal:
// f"IndexKernel<{args}>::run". What becomes of the text is not followed.
void CodeGraph::add_named(uint32_t file) const {
  for (const python::CudaText& text : readings_.readings[file].python.cuda_texts) {
    if (text.kind != python::CudaTextKind::kInstantiation) continue;
    const auto function = types_.names().find_function(file, text.function);
    if (!function) continue;
    for (const FunctionNode& ref : cpp_.ending_with(without_template_arguments(text.text)))
      callers_->push_back({ref,
                           {false, file, function->index},
                           text.line,
                           ReachKind::kNone,
                           Certainty::kUnsure,
                           {},
                           &text});
  }
}

uint32_t CodeGraph::lost_message_at(const FunctionNode& node) const {
  return is_function(node) ? messages_.lost_at({node.file, node.index}) : 0;
}

const std::vector<OpenCall>& CodeGraph::open_calls(const FunctionNode& node) const {
  static const std::vector<OpenCall> none;
  return is_function(node) ? calls_.calls_of({node.file, node.index}).open : none;
}

std::string CodeGraph::unbound_call(const FunctionNode& node) const {
  if (!is_function(node)) return "";
  for (const BuiltCall& call : calls_.calls_of({node.file, node.index}).built) {
    for (const BoundFunction& bound : types_.jit().exported(call.builder, call.name)) {
      if (functions_of(call, bound).empty())
        return "calls " + call.name + " of the module built by " +
               types_.classes().function(call.builder).name + " (" +
               place_text({node.file, call.line}) + "), bound to " + bound.binding->target + " (" +
               place_text(bound.at()) + "), which is not found in the module's sources";
    }
  }
  return "";
}

std::string_view CodeGraph::plain_name(const FunctionNode& node) const {
  if (node.cpp) return readings_.readings[node.file].cpp.functions[node.index].name;
  if (node.index == kPythonModuleLevel) return {};
  return types_.classes().function({node.file, node.index}).name;
}

std::string CodeGraph::name_of(const FunctionNode& node) const {
  if (node.cpp) return qualified_name(readings_.readings[node.file].cpp.functions[node.index]);
  if (node.index == kPythonModuleLevel) return names_.module_of(node.file);
  return qualified_name(types_.classes().function({node.file, node.index}));
}

CodePlace CodeGraph::place_of(const FunctionNode& node) const {
  if (node.cpp)
    return {node.file, readings_.readings[node.file].cpp.functions[node.index].line_name};
  if (node.index == kPythonModuleLevel) return {node.file, 1};
  return {node.file, types_.classes().function({node.file, node.index}).line_name};
}

std::string CodeGraph::place_text(const CodePlace& at) const {
  return readings_.files[at.file].path + ":" + std::to_string(at.line);
}

}  // namespace fathom
