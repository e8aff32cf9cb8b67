#include "scan/link/python_types.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "scan/facts/text_lines.h"

namespace fathom {
namespace {

using Kind = PythonValue::Kind;

// The next step of a dotted expression: a name, "()" or "[]"; empty: the end, or something else.
std::string_view next_step(std::string_view& text) {
  while (!text.empty() && (text[0] == '.' || text[0] == ' ')) text.remove_prefix(1);
  if (text.empty()) return {};
  size_t end = 0;
  if (text[0] == '(' || text[0] == '[') {
    int depth = 0;
    for (; end < text.size(); ++end) {
      depth += text[end] == '(' || text[end] == '[';
      depth -= text[end] == ')' || text[end] == ']';
      if (depth == 0) break;
    }
    const std::string_view step = text[0] == '(' ? "()" : "[]";
    text.remove_prefix(std::min(end + 1, text.size()));
    return step;
  }
  while (end < text.size() && is_word_character(text[end])) ++end;
  const std::string_view step = text.substr(0, end);
  text.remove_prefix(end);
  return step;
}

}  // namespace

PythonTypes::PythonTypes(const Readings& readings, const PythonNames& names, const JitModules& jit)
    : readings_(readings),
      names_(names),
      jit_(jit),
      classes_(readings, names),
      tables_(readings, names, classes_) {}

// The objects of the classes that it names; what others' modules name is foreign.
PythonValues PythonTypes::annotated(std::string_view annotation, uint32_t file) const {
  PythonValues out;
  // type[Executor]: the class or one that inherits, which is why it is not certain.
  const bool is_type = holds(annotation, "type[") || holds(annotation, "Type[");
  for (const PythonRef& of : classes_.classes_in(annotation, file)) {
    if (is_type)
      add_value(out, {Kind::kClass, of, false, Certainty::kLikely});
    else
      add_value(out, {Kind::kInstance, of, false, Certainty::kCertain});
  }
  if (!out.empty()) return out;
  for (const python::Import& import : readings_.readings[file].python.imports) {
    const size_t at =
        import.bound_to.empty() ? std::string::npos : annotation.find(import.bound_to);
    if (at == std::string::npos || (at > 0 && is_word_character(annotation[at - 1]))) continue;
    const size_t end = at + import.bound_to.size();
    if (end < annotation.size() && is_word_character(annotation[end])) continue;
    // Any, Callable: words that say nothing of whose object it is.
    if (import.module == "typing" || import.module.starts_with('.') ||
        names_.find_module(import.module, file))
      continue;
    add_value(out, {Kind::kForeign, {}, false, Certainty::kCertain, false, import.module, ""});
  }
  return out;
}

PythonValues PythonTypes::evaluate(std::string_view expression, uint32_t file, uint32_t function,
                                   int depth) const {
  if (depth > kMaxDepth || expression.empty()) return {};
  const auto key = std::tuple(file, function, std::string(expression));
  if (const auto found = evaluated_.find(key); found != evaluated_.end()) return found->second;
  evaluated_[key] = {};  // what depends on itself is nothing
  return evaluated_[key] = evaluate_uncached(expression, file, function, depth);
}

PythonValues PythonTypes::evaluate_uncached(std::string_view expression, uint32_t file,
                                            uint32_t function, int depth) const {
  if (expression.starts_with("await ")) expression.remove_prefix(6);
  if (expression.starts_with('#')) {
    uint32_t line = 0;
    const char* const end = expression.data() + expression.size();
    if (std::from_chars(expression.data() + 1, end, line).ptr != end) return {};
    return {{Kind::kKernel, {file, line}, true, Certainty::kCertain}};
  }
  const std::string_view first = next_step(expression);
  if (first.empty() || first == "()" || first == "[]") return {};
  PythonValues values;
  if (first == "super" && expression.starts_with('(')) {
    next_step(expression);
    if (function == kPythonModuleLevel) return {};
    if (const auto owner = classes_.class_of({file, function})) {
      for (const PythonRef& base : classes_.bases_of(*owner))
        add_value(values, {Kind::kInstance, base, true, Certainty::kCertain});
    }
  } else {
    values = head(first, file, function, depth);
  }
  std::string_view before = first;
  while (!expression.empty() && !values.empty()) {
    const std::string_view step = next_step(expression);
    const bool is_of_state = std::exchange(before, step) == "state";
    if (step.empty()) return {};
    PythonValues next;
    for (const PythonValue& value : values) {
      PythonValues results;
      if (step == "()") {
        results = called(value, depth + 1);
      } else if (step == "[]") {
        // A list of objects counts as its objects.
        results =
            value.kind == Kind::kTable ? tables_.registered(value.ref.index) : PythonValues{value};
      } else if (is_of_state && value.kind == Kind::kForeign) {
        results = application_state(step, depth + 1);
      } else {
        results = attribute(value, step, depth + 1);
      }
      for (PythonValue& result : results) {
        result.certainty = std::max(result.certainty, value.certainty);
        add_value(next, result);
      }
    }
    values = std::move(next);
  }
  return values;
}

PythonValues PythonTypes::head(std::string_view name, uint32_t file, uint32_t function,
                               int depth) const {
  if (function != kPythonModuleLevel) {
    // A function inside another sees the other's names; inside a method also its self.
    const python::PythonFile& python = readings_.readings[file].python;
    std::string scope = qualified_name(python.functions[function]);
    while (!scope.empty()) {
      if (const auto around = names_.find_function(file, scope)) {
        if (name == "self" || name == "cls") {
          if (const auto owner = classes_.class_of(*around)) {
            const Kind kind = name == "self" ? Kind::kInstance : Kind::kClass;
            return {{kind, *owner, false, Certainty::kCertain}};
          }
        }
        if (PythonValues found = local(name, file, around->index, depth); !found.empty())
          return found;
        if (is_bound_in(name, *around)) return {};
      }
      const size_t dot = scope.rfind('.');
      scope = dot == std::string::npos ? "" : scope.substr(0, dot);
    }
  }
  // Once for all functions of the file.
  if (function != kPythonModuleLevel) return evaluate(name, file, kPythonModuleLevel, depth);
  return module_name(name, file, depth);
}

// What a web application keeps for its routes: app.state.engine = Engine(…), and request.app.state
// .engine in a route.
PythonValues PythonTypes::application_state(std::string_view name, int depth) const {
  if (!state_flows_) {
    state_flows_.emplace();
    for (uint32_t file = 0; file < readings_.readings.size(); ++file) {
      const auto& flows = readings_.readings[file].python.flows;
      for (uint32_t i = 0; i < flows.size(); ++i) {
        if (flows[i].kind != python::FlowKind::kAssign) continue;
        const std::string_view target = flows[i].target;
        const std::string_view object = before_last(target, ".");
        if (object.ends_with(".state"))
          (*state_flows_)[std::string(last_part(target))].emplace_back(file, i);
      }
    }
  }
  PythonValues out;
  const auto found = state_flows_->find(name);
  if (found == state_flows_->end()) return out;
  for (const auto& [file, i] : found->second) {
    const python::ValueFlow& flow = readings_.readings[file].python.flows[i];
    for (PythonValue value : evaluate(flow.value, file, flow.function, depth)) {
      value.certainty = std::max(value.certainty, Certainty::kLikely);
      add_value(out, value);
    }
  }
  return out;
}

// Whether a function has a parameter or sets a variable of the name: then it means no other.
bool PythonTypes::is_bound_in(std::string_view name, const PythonRef& function) const {
  const python::PythonFile& python = readings_.readings[function.file].python;
  const auto& parameters = python.functions[function.index].parameters;
  if (std::ranges::find(parameters, name, &python::Argument::name) != parameters.end()) return true;
  return std::ranges::any_of(classes_.flows_to(name, function.file), [&](uint32_t i) {
    return python.flows[i].function == function.index;
  });
}

PythonValues PythonTypes::local(std::string_view name, uint32_t file, uint32_t index,
                                int depth) const {
  const python::PythonFile& python = readings_.readings[file].python;
  const python::Function& f = python.functions[index];
  PythonValues out;
  for (size_t i = 0; i < f.parameters.size() && i < f.annotations.size(); ++i) {
    if (f.parameters[i].name == name) add_values(out, annotated(f.annotations[i], file));
  }
  // A function defined inside.
  if (const auto inner = names_.find_function(file, qualified_name(f) + "." + std::string(name)))
    add_value(out, {Kind::kFunction, *inner, false, Certainty::kCertain});
  for (const uint32_t i : classes_.flows_to(name, file)) {
    const python::ValueFlow& flow = python.flows[i];
    if (flow.function != index) continue;
    if (is_ambiguous(out)) break;
    if (!flow.type.empty()) add_values(out, annotated(flow.type, file));
    if (flow.value == name) continue;
    PythonValues values = evaluate(flow.value, file, index, depth + 1);
    if (flow.kind == python::FlowKind::kLoop && !has_instance(values))
      values = elements(flow.value, file, index, depth + 1);
    add_values(out, values);
  }
  return out;
}

// What a loop over an attribute of a container runs over: the container's elements.
PythonValues PythonTypes::elements(std::string_view expression, uint32_t file, uint32_t function,
                                   int depth) const {
  const size_t dot = expression.rfind('.');
  if (dot == std::string_view::npos) return {};
  PythonValues values = evaluate(expression.substr(0, dot), file, function, depth);
  std::erase_if(values, [](const PythonValue& value) { return !value.element; });
  return values;
}

PythonValues PythonTypes::module_name(std::string_view name, uint32_t file, int depth) const {
  if (const auto found = names_.resolve(name, file)) {
    const PythonRef ref = found->ref();
    switch (found->kind) {
      case PythonName::Kind::kFunction:
        return {{Kind::kFunction, ref, false, Certainty::kCertain}};
      case PythonName::Kind::kClass:
        return {{Kind::kClass, ref, false, Certainty::kCertain}};
      case PythonName::Kind::kModule:
        return {{Kind::kModule, {found->file, 0}, false, Certainty::kCertain}};
      case PythonName::Kind::kConstant:
        break;
    }
  }
  if (const auto table = tables_.find(file, name))
    return {{Kind::kTable, {file, *table}, false, Certainty::kCertain}};
  PythonValues out;
  for (const uint32_t i : classes_.flows_to(name, file)) {
    const python::ValueFlow& flow = readings_.readings[file].python.flows[i];
    if (is_ambiguous(out)) break;
    // `global name` inside a function sets it too; a local one of this name would have been
    // found before.
    if (!flow.type.empty()) add_values(out, annotated(flow.type, file));
    if (flow.value != name && (flow.function == kPythonModuleLevel || name.starts_with('_')))
      add_values(out, evaluate(flow.value, file, flow.function, depth + 1));
  }
  if (!out.empty()) return out;
  for (const python::Import* import : names_.imports_of(name, file)) {
    const auto home = names_.find_module(import->module, file);
    if (home && *home != file && !import->name.empty() && depth < kMaxDepth)
      return module_name(import->name, *home, depth + 1);
    // `if rocm: import a as gpu`, `else: import b as gpu`: either can be meant.
    if (home || import->module.starts_with('.')) continue;
    const PythonValue value = {Kind::kForeign, {}, false, Certainty::kCertain, false,
                               import->module, ""};
    const bool part = import->module == "torch.utils" || import->module == "torch";
    add_values(out, part ? of_torch(value, import->name) : PythonValues{value});
  }
  return out;
}

}  // namespace fathom
