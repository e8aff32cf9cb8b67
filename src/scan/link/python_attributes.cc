// What attributes and calls of a value are: the second half of PythonTypes.
#include <algorithm>

#include "scan/facts/code_names.h"
#include "scan/link/python_types.h"

namespace fathom {
namespace {

using Kind = PythonValue::Kind;

bool is_property(const python::Function& function) {
  return has_decorator(function, "property") || has_decorator(function, "cached_property");
}

}  // namespace

PythonValues PythonTypes::attribute(const PythonValue& of, std::string_view name, int depth) const {
  if (depth > kMaxDepth) return {};
  switch (of.kind) {
    case Kind::kModule:
      return module_name(name, of.ref.file, depth);
    case Kind::kForeign:
      return of.module == "torch" || of.module == "torch.utils" ? of_torch(of, name)
                                                                : PythonValues{of};
    case Kind::kTable:
      if (name == "get" || name == "lookup") return {of};
      return {};
    case Kind::kScope:
      return member_of_scope(of.ref, name, depth);
    case Kind::kBuilt:
      return of_built(of, name);
    case Kind::kFunction:
    case Kind::kKernel:
      return {};
    case Kind::kClass:
    case Kind::kInstance:
      return instance_attribute(of, name, depth);
  }
  return {};
}

PythonValues PythonTypes::instance_attribute(const PythonValue& of, std::string_view name,
                                             int depth) const {
  if (const auto method = classes_.find_method(of.ref, name)) {
    if (is_property(classes_.function(*method))) return returned(*method, depth);
    PythonValue bound = {Kind::kFunction, *method, of.exact, of.certainty, false, "", of.through};
    PythonValues out;
    const bool abstract = classes_.is_abstract(*method);
    if (!abstract) add_value(out, bound);
    // Whoever is not known to be of just this class may be of one that inherits. Where very many
    // do, a way through one of them says nothing.
    constexpr size_t kMostImplementations = 16;
    const std::vector<PythonRef> overriding = abstract || (!of.exact && of.kind == Kind::kInstance)
                                                  ? classes_.overriding(of.ref, name)
                                                  : std::vector<PythonRef>();
    if (overriding.size() <= kMostImplementations) {
      for (const PythonRef& other : overriding) {
        add_value(out,
                  {Kind::kFunction, other, true, abstract ? Certainty::kLikely : Certainty::kUnsure,
                   false, "", classes_.type(of.ref).name});
      }
    }
    if (out.empty()) add_value(out, bound);
    return out;
  }
  // torch.autograd.Function: Class.apply(…) runs forward, and backward later.
  const auto& bases = classes_.type(of.ref).bases;
  const bool autograd = std::any_of(bases.begin(), bases.end(), [](const std::string& base) {
    return last_part(base) == "Function";
  });
  if (of.kind == Kind::kClass && name == "apply" && autograd) {
    PythonValues out;
    for (const std::string_view method : {"forward", "backward"}) {
      if (const auto found = classes_.find_method(of.ref, method))
        add_value(out, {Kind::kFunction, *found, true, Certainty::kLikely});
    }
    return out;
  }
  PythonValues out;
  if (const auto field = names_.find_field(of.ref.file, classes_.type(of.ref), name)) {
    add_values(out, annotated(field->field->type, field->file));
    if (out.empty() && field->field->default_value)
      add_values(
          out, evaluate(*field->field->default_value, field->file, kPythonModuleLevel, depth + 1));
  }
  add_values(out, assigned_attribute(of.ref, name, depth));
  return out;
}

// self.name = value in a method of the class or, where it has none, of those that it inherits from.
PythonValues PythonTypes::assigned_attribute(const PythonRef& of, std::string_view name,
                                             int depth) const {
  PythonValues out;
  classes_.for_each_base(of, [&](const PythonRef& at) {
    const PythonValues own = assigned_in_class(at, name, depth);
    add_values(out, own);
    return !own.empty();
  });
  return out;
}

// What methods of the class set a member to: positions in the file's flows.
const std::vector<uint32_t>& PythonTypes::member_flows(const PythonRef& of,
                                                       std::string target) const {
  const auto [known, is_new] = member_flows_.try_emplace(of.file);
  if (is_new) {
    const std::vector<python::ValueFlow>& flows = readings_.readings[of.file].python.flows;
    for (uint32_t i = 0; i < flows.size(); ++i) {
      const python::ValueFlow& flow = flows[i];
      if (flow.function == kPythonModuleLevel || !flow.target.starts_with("self.") ||
          flow.kind == python::FlowKind::kCheck || flow.kind == python::FlowKind::kHand)
        continue;
      if (const auto owner = classes_.class_of({of.file, flow.function}))
        known->second[{*owner, flow.target}].push_back(i);
    }
  }
  return value_or_empty(known->second, std::pair(of, std::move(target)));
}

PythonValues PythonTypes::assigned_in_class(const PythonRef& of, std::string_view name,
                                            int depth) const {
  PythonValues out;
  if (depth > kMaxDepth) return out;
  const python::PythonFile& python = readings_.readings[of.file].python;
  for (const uint32_t i : member_flows(of, "self." + std::string(name))) {
    const python::ValueFlow& flow = python.flows[i];
    if (!flow.type.empty()) add_values(out, annotated(flow.type, of.file));
    PythonValues values = evaluate(flow.value, of.file, flow.function, depth + 1);
    for (PythonValue& value : values) value.element |= flow.kind == python::FlowKind::kEntry;
    add_values(out, values);
  }
  return out;
}

PythonValues PythonTypes::called(const PythonValue& of, int depth) const {
  if (depth > kMaxDepth) return {};
  switch (of.kind) {
    case Kind::kClass:
      return {{Kind::kInstance, of.ref, of.certainty == Certainty::kCertain, of.certainty, false,
               "", of.through}};
    case Kind::kFunction: {
      PythonValues out = returned(of.ref, depth);
      if (!has_instance(out)) add_value(out, {Kind::kScope, of.ref, false, of.certainty});
      return out;
    }
    case Kind::kScope:
    case Kind::kKernel:
      return {};
    case Kind::kBuilt: {
      // A method of what the function returned builds the module; what an export returns is data.
      if (!jit_.exported(of.ref, of.member).empty()) return {};
      PythonValue module = of;
      module.member.clear();
      return {module};
    }
    case Kind::kTable:
      return tables_.registered(of.ref.index);
    case Kind::kForeign:
      return {of};
    case Kind::kInstance:
      if (const auto method = classes_.find_method(of.ref, "__call__"))
        return returned(*method, depth);
      return {};
    case Kind::kModule:
      return {};
  }
  return {};
}

PythonValues PythonTypes::returned(const PythonRef& ref, int depth) const {
  const python::Function& f = classes_.function(ref);
  const PythonValues built = built_by(ref, depth);
  if (PythonValues out = annotated(f.returns, ref.file); !out.empty()) {
    add_values(out, built);
    return out;
  }
  PythonValues out = built;
  if (depth > kMaxDepth) return out;
  for (const python::ValueFlow& flow : classes_.flows_in(ref)) {
    if (flow.kind == python::FlowKind::kReturn)
      add_values(out, evaluate(flow.value, ref.file, ref.index, depth + 1));
  }
  return out;
}

// What SimpleNamespace(name=…) or a function inside is, of what a function returns.
PythonValues PythonTypes::member_of_scope(const PythonRef& ref, std::string_view name,
                                          int depth) const {
  PythonValues out;
  for (const python::ValueFlow& flow : classes_.flows_in(ref)) {
    if (flow.kind == python::FlowKind::kMember && flow.target == name)
      add_values(out, evaluate(flow.value, ref.file, ref.index, depth + 1));
  }
  for (PythonValue& value : out) value.certainty = std::max(value.certainty, Certainty::kLikely);
  if (!out.empty()) return out;
  const auto inner = names_.find_function(
      ref.file, qualified_name(classes_.function(ref)) + "." + std::string(name));
  if (!inner) return {};
  return {{Kind::kFunction, *inner, true, Certainty::kLikely}};
}

// The C++ module that a function builds, or that one builds whose value it returns.
PythonValues PythonTypes::built_by(const PythonRef& ref, int depth) const {
  if (jit_.builds(ref)) return {{Kind::kBuilt, ref, true, Certainty::kLikely}};
  if (depth > kMaxDepth || !jit_.may_hand_on(classes_.function(ref).name)) return {};
  PythonValues out;
  for (const python::ValueFlow& flow : classes_.flows_in(ref)) {
    if (flow.kind == python::FlowKind::kReturn)
      add_values(out, evaluate(flow.value, ref.file, ref.index, depth + 1));
  }
  std::erase_if(out, [](const PythonValue& value) { return value.kind != Kind::kBuilt; });
  return out;
}

// torch.ops.library.name: what TORCH_LIBRARY defines, perhaps of this repository.
PythonValues PythonTypes::of_torch(const PythonValue& of, std::string_view name) const {
  PythonValue out = of;
  if (!of.member.empty())
    (out.member += '.') += name;
  else if (name == "ops")
    out.member = name;
  else if (name == "cpp_extension")
    out.module = "torch.utils.cpp_extension";
  return {out};
}

PythonValues PythonTypes::of_built(const PythonValue& module, std::string_view member) const {
  PythonValue out = module;
  out.member = member;
  return {out};
}

std::optional<PythonRef> PythonTypes::builder_around(const PythonRef& ref) const {
  if (jit_.builds(ref)) return ref;
  std::string_view scope = classes_.function(ref).scope;
  while (!scope.empty()) {
    const auto found = names_.find_function(ref.file, std::string(scope));
    if (found && jit_.builds(*found)) return found;
    const size_t dot = scope.rfind('.');
    scope = dot == std::string_view::npos ? std::string_view() : scope.substr(0, dot);
  }
  return std::nullopt;
}

}  // namespace fathom
