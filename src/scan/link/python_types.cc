#include "scan/link/python_types.h"

#include <algorithm>

#include "scan/facts/code_names.h"

namespace fathom {
namespace {

using Kind = PythonValue::Kind;

// Ways that go round in circles end here, and more answers than this say nothing.
constexpr int kMaxDepth = 7;
constexpr size_t kMaxValues = 24;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The next step of a way: a name, "()" or "[]"; empty: the end, or something else.
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
  while (end < text.size() && is_word(text[end])) ++end;
  const std::string_view step = text.substr(0, end);
  text.remove_prefix(end);
  return step;
}

void add(PythonTypes::Values& into, const PythonValue& value) {
  if (into.size() >= kMaxValues) return;
  const auto same = [&](const PythonValue& v) {
    return v.kind == value.kind && v.ref == value.ref && v.module == value.module &&
           v.member == value.member;
  };
  if (std::none_of(into.begin(), into.end(), same)) into.push_back(value);
}

void add_all(PythonTypes::Values& into, const PythonTypes::Values& values) {
  for (const PythonValue& value : values) add(into, value);
}

bool has_instance(const PythonTypes::Values& values) {
  return std::any_of(values.begin(), values.end(),
                     [](const PythonValue& value) { return value.kind == Kind::kInstance; });
}

bool has_decorator(const python::Function& function, std::string_view name) {
  return std::any_of(
      function.decorators.begin(), function.decorators.end(),
      [&](const std::string& d) { return last_part(d.substr(0, d.find('('))) == name; });
}

bool is_property(const python::Function& function) {
  return has_decorator(function, "property") || has_decorator(function, "cached_property");
}

}  // namespace

std::string qualified_name(const python::Function& function) {
  return function.scope.empty() ? function.name : function.scope + "." + function.name;
}

PythonTypes::PythonTypes(const Readings& readings, const PythonNames& names, const JitModules& jit)
    : readings_(readings),
      names_(names),
      jit_(jit),
      files_(readings.files.size()),
      resolved_(readings.files.size()) {
  for (uint32_t file = 0; file < readings.files.size(); ++file) index_file(file);
  index_bases();
  index_tables();
}

void PythonTypes::index_file(uint32_t file) {
  const python::PythonFile& python = readings_.readings[file].python;
  FileIndex& index = files_[file];
  for (uint32_t i = 0; i < python.functions.size(); ++i) {
    const auto [at, fresh] = index.functions.emplace(qualified_name(python.functions[i]), i);
    if (!fresh && is_overload(python.functions[at->second])) at->second = i;
  }
  for (uint32_t i = 0; i < python.classes.size(); ++i) {
    const python::Class& c = python.classes[i];
    index.classes.emplace(c.scope.empty() ? c.name : c.scope + "." + c.name, i);
  }
  for (uint32_t i = 0; i < python.flows.size(); ++i) {
    const python::ValueFlow& flow = python.flows[i];
    if (flow.kind == python::FlowKind::kCheck || flow.kind == python::FlowKind::kHand) continue;
    if (flow.kind != python::FlowKind::kReturn && flow.kind != python::FlowKind::kMember)
      index.flows[flow.target].push_back(i);
  }
}

void PythonTypes::index_bases() {
  for (uint32_t file = 0; file < files_.size(); ++file) {
    const auto& classes = readings_.readings[file].python.classes;
    for (uint32_t i = 0; i < classes.size(); ++i) {
      for (const std::string& written : classes[i].bases) {
        const std::string_view base = std::string_view(written).substr(0, written.find('['));
        const auto found = resolve(base, file);
        if (!found || found->kind != PythonName::Kind::kClass) continue;
        const PythonRef of = {found->file, static_cast<uint32_t>(found->index)};
        if (of == PythonRef{file, i}) continue;
        derived_[of].push_back({file, i});
        bases_[{file, i}].push_back(of);
      }
    }
  }
}

// @TABLE.register("x") above a function or class, TABLE = {"x": f}, TABLE["x"] = f.
void PythonTypes::index_tables() {
  const auto table = [this](uint32_t file, const std::string& name) -> Values& {
    const auto [at, fresh] = table_ids_.emplace(std::pair(file, name), tables_.size());
    if (fresh) {
      tables_.emplace_back();
      table_names_.push_back(name);
    }
    return tables_[at->second];
  };
  // None: another's module has it, as torch in @torch.library.register_fake.
  const auto home_of = [this](std::string_view name, uint32_t file) -> std::optional<uint32_t> {
    bool imported = false;
    for (const python::Import& import : readings_.readings[file].python.imports) {
      if (import.bound_to != name) continue;
      imported = true;
      if (import.name.empty()) continue;
      if (const auto module = names_.find_module(import.module, file)) return *module;
    }
    return imported ? std::nullopt : std::optional(file);
  };
  const auto decorated = [&](uint32_t file, const std::vector<std::string>& decorators,
                             const PythonValue& value) {
    for (const std::string& decorator : decorators) {
      const std::string_view callee = std::string_view(decorator).substr(0, decorator.find('('));
      const size_t dot = callee.find('.');
      if (dot == std::string_view::npos || callee.find("register") == std::string_view::npos)
        continue;
      const std::string name(callee.substr(0, dot));
      if (const auto home = home_of(name, file)) add(table(*home, name), value);
    }
  };
  for (uint32_t file = 0; file < files_.size(); ++file) {
    const python::PythonFile& python = readings_.readings[file].python;
    for (uint32_t i = 0; i < python.functions.size(); ++i)
      decorated(file, python.functions[i].decorators,
                {Kind::kFunction, {file, i}, false, {}, false, "", ""});
    for (uint32_t i = 0; i < python.classes.size(); ++i)
      decorated(file, python.classes[i].decorators,
                {Kind::kClass, {file, i}, false, {}, false, "", ""});
    for (const python::ValueFlow& flow : python.flows) {
      if (flow.kind != python::FlowKind::kEntry || flow.function != kModuleLevel) continue;
      const auto found = resolve(flow.value, file);
      if (!found) continue;
      const PythonRef ref = {found->file, static_cast<uint32_t>(found->index)};
      if (found->kind == PythonName::Kind::kFunction)
        add(table(file, flow.target), {Kind::kFunction, ref, false, {}, false, "", ""});
      if (found->kind == PythonName::Kind::kClass)
        add(table(file, flow.target), {Kind::kClass, ref, false, {}, false, "", ""});
    }
  }
}

std::optional<PythonName> PythonTypes::resolve(std::string_view name, uint32_t file) const {
  auto& known = resolved_[file];
  std::string key(name);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  return known.emplace(std::move(key), names_.resolve(name, file)).first->second;
}

std::optional<PythonRef> PythonTypes::class_of(const PythonRef& ref) const {
  const python::Function& f = function(ref);
  if (f.scope.empty()) return std::nullopt;
  const auto& classes = files_[ref.file].classes;
  const auto found = classes.find(f.scope);
  if (found == classes.end()) return std::nullopt;
  return PythonRef{ref.file, found->second};
}

std::vector<python::ValueFlow> PythonTypes::flows_in(const PythonRef& ref) const {
  const python::Function& f = function(ref);
  const auto& flows = readings_.readings[ref.file].python.flows;
  auto at = std::lower_bound(
      flows.begin(), flows.end(), f.line_first,
      [](const python::ValueFlow& flow, uint32_t line) { return flow.line < line; });
  std::vector<python::ValueFlow> out;
  for (; at != flows.end() && at->line <= f.line_last; ++at) {
    if (at->function == ref.index) out.push_back(*at);
  }
  return out;
}

std::vector<PythonRef> PythonTypes::bases_of(const PythonRef& of) const {
  const auto found = bases_.find(of);
  return found == bases_.end() ? std::vector<PythonRef>() : found->second;
}

bool PythonTypes::inherits(const PythonRef& derived, const PythonRef& base) const {
  std::vector<PythonRef> open = {derived};
  for (size_t i = 0; i < open.size() && i < 64; ++i) {
    if (open[i] == base) return true;
    for (const PythonRef& next : bases_of(open[i])) open.push_back(next);
  }
  return false;
}

std::optional<PythonRef> PythonTypes::find_method(const PythonRef& of,
                                                  std::string_view name) const {
  constexpr size_t kMaxClasses = 64;
  std::vector<PythonRef> left = {of}, seen;
  while (!left.empty() && seen.size() < kMaxClasses) {
    const PythonRef at = left.back();
    left.pop_back();
    if (std::find(seen.begin(), seen.end(), at) != seen.end()) continue;
    seen.push_back(at);
    const python::Class& owner = type(at);
    std::string key = owner.scope.empty() ? owner.name : owner.scope + "." + owner.name;
    key += '.';
    key += name;
    const auto& functions = files_[at.file].functions;
    if (const auto found = functions.find(key); found != functions.end())
      return PythonRef{at.file, found->second};
    const std::vector<PythonRef> bases = bases_of(at);
    left.insert(left.end(), bases.rbegin(), bases.rend());
  }
  return std::nullopt;
}

std::vector<PythonRef> PythonTypes::overriding(const PythonRef& of, std::string_view method) const {
  std::vector<PythonRef> out, open = {of};
  std::vector<PythonRef> seen = {of};
  for (size_t i = 0; i < open.size() && open.size() < 400; ++i) {
    const auto found = derived_.find(open[i]);
    if (found == derived_.end()) continue;
    for (const PythonRef& next : found->second) {
      if (std::find(open.begin(), open.end(), next) != open.end()) continue;
      open.push_back(next);
      const auto own = find_method(next, method);
      const auto home = own ? class_of(*own) : std::nullopt;
      if (own && home == next && !is_abstract(*own)) out.push_back(*own);
    }
  }
  return out;
}

// Without a body of its own: marked as such, or nothing but `raise NotImplementedError`.
bool PythonTypes::is_abstract(const PythonRef& ref) const {
  const python::Function& f = function(ref);
  if (has_decorator(f, "abstractmethod")) return true;
  if (!f.calls.empty()) return f.calls.size() == 1 && f.calls[0].callee == "NotImplementedError";
  // `raise NotImplementedError`, `...` and `pass` call nothing and take a line, besides a
  // docstring.
  const uint32_t lines = f.line_last - f.line_name;
  return !f.scope.empty() && lines <= 3 + f.parameters.size() && flows_in(ref).empty();
}

std::vector<PythonRef> PythonTypes::classes_in(std::string_view annotation, uint32_t file) const {
  std::vector<PythonRef> out;
  size_t at = 0;
  while (at < annotation.size()) {
    if (!is_word(annotation[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < annotation.size() && (is_word(annotation[end]) || annotation[end] == '.')) ++end;
    const auto found = resolve(annotation.substr(at, end - at), file);
    if (found && found->kind == PythonName::Kind::kClass)
      out.push_back({found->file, static_cast<uint32_t>(found->index)});
    at = end;
  }
  return out;
}

// The objects of the classes that it names; what others' modules name is foreign.
PythonTypes::Values PythonTypes::annotated(std::string_view annotation, uint32_t file) const {
  Values out;
  // type[Executor]: the class or one that inherits, which is why it is not certain.
  const bool is_type = annotation.find("type[") != std::string_view::npos ||
                       annotation.find("Type[") != std::string_view::npos;
  for (const PythonRef& of : classes_in(annotation, file)) {
    if (is_type)
      add(out, {Kind::kClass, of, false, Certainty::kLikely, false, "", ""});
    else
      add(out, {Kind::kInstance, of, false, Certainty::kCertain, false, "", ""});
  }
  if (!out.empty()) return out;
  for (const python::Import& import : readings_.readings[file].python.imports) {
    const size_t at =
        import.bound_to.empty() ? std::string::npos : annotation.find(import.bound_to);
    if (at == std::string::npos || (at > 0 && is_word(annotation[at - 1]))) continue;
    const size_t end = at + import.bound_to.size();
    if (end < annotation.size() && is_word(annotation[end])) continue;
    if (import.module.starts_with('.') || names_.find_module(import.module, file)) continue;
    add(out, {Kind::kForeign, {}, false, Certainty::kCertain, false, import.module, ""});
  }
  return out;
}

PythonTypes::Values PythonTypes::evaluate(std::string_view expression, uint32_t file,
                                          uint32_t function, int depth) const {
  if (depth > kMaxDepth || expression.empty()) return {};
  const auto key = std::tuple(file, function, std::string(expression));
  if (const auto found = evaluated_.find(key); found != evaluated_.end()) return found->second;
  evaluated_[key] = {};  // what depends on itself is nothing
  return evaluated_[key] = evaluate_uncached(expression, file, function, depth);
}

PythonTypes::Values PythonTypes::evaluate_uncached(std::string_view expression, uint32_t file,
                                                   uint32_t function, int depth) const {
  if (expression.starts_with("await ")) expression.remove_prefix(6);
  const std::string_view first = next_step(expression);
  if (first.empty() || first == "()" || first == "[]") return {};
  Values values;
  if (first == "super" && expression.starts_with('(')) {
    next_step(expression);
    if (function == kModuleLevel) return {};
    if (const auto owner = class_of({file, function})) {
      for (const PythonRef& base : bases_of(*owner))
        add(values, {Kind::kInstance, base, true, Certainty::kCertain, false, "", ""});
    }
  } else {
    values = head(first, file, function, depth);
  }
  while (!expression.empty() && !values.empty()) {
    const std::string_view step = next_step(expression);
    if (step.empty()) return {};
    Values next;
    for (const PythonValue& value : values) {
      Values results;
      if (step == "()") {
        results = called(value, depth + 1);
      } else if (step == "[]") {
        // A list of objects counts as its objects.
        results = value.kind == Kind::kTable ? registered(value) : Values{value};
      } else {
        results = attribute(value, step, depth + 1);
      }
      for (PythonValue& result : results) {
        result.certainty = std::max(result.certainty, value.certainty);
        add(next, result);
      }
    }
    values = std::move(next);
  }
  return values;
}

PythonTypes::Values PythonTypes::head(std::string_view name, uint32_t file, uint32_t function,
                                      int depth) const {
  if (function != kModuleLevel) {
    // A function inside another sees the other's names; inside a method also its self.
    const python::PythonFile& python = readings_.readings[file].python;
    std::string scope = qualified_name(python.functions[function]);
    while (!scope.empty()) {
      const auto at = files_[file].functions.find(scope);
      if (at != files_[file].functions.end()) {
        if (name == "self" || name == "cls") {
          if (const auto owner = class_of({file, at->second})) {
            const Kind kind = name == "self" ? Kind::kInstance : Kind::kClass;
            return {{kind, *owner, false, Certainty::kCertain, false, "", ""}};
          }
        }
        if (Values found = local(name, file, at->second, depth); !found.empty()) return found;
      }
      const size_t dot = scope.rfind('.');
      scope = dot == std::string::npos ? "" : scope.substr(0, dot);
    }
  }
  return module_name(name, file, depth);
}

PythonTypes::Values PythonTypes::local(std::string_view name, uint32_t file, uint32_t index,
                                       int depth) const {
  const python::PythonFile& python = readings_.readings[file].python;
  const python::Function& f = python.functions[index];
  Values out;
  for (size_t i = 0; i < f.parameters.size() && i < f.annotations.size(); ++i) {
    if (f.parameters[i].name == name) add_all(out, annotated(f.annotations[i], file));
  }
  // A function defined inside.
  const auto inner = files_[file].functions.find(qualified_name(f) + "." + std::string(name));
  if (inner != files_[file].functions.end())
    add(out, {Kind::kFunction, {file, inner->second}, false, Certainty::kCertain, false, "", ""});
  const auto flows = files_[file].flows.find(name);
  if (flows == files_[file].flows.end()) return out;
  for (const uint32_t i : flows->second) {
    const python::ValueFlow& flow = python.flows[i];
    if (flow.function != index) continue;
    if (!flow.type.empty()) add_all(out, annotated(flow.type, file));
    if (flow.value == name) continue;
    Values values = evaluate(flow.value, file, index, depth + 1);
    if (flow.kind == python::FlowKind::kLoop && !has_instance(values))
      values = elements(flow.value, file, index, depth + 1);
    add_all(out, values);
  }
  return out;
}

// What a loop over an attribute of a container runs over: the container's elements.
PythonTypes::Values PythonTypes::elements(std::string_view expression, uint32_t file,
                                          uint32_t function, int depth) const {
  const size_t dot = expression.rfind('.');
  if (dot == std::string_view::npos) return {};
  Values values = evaluate(expression.substr(0, dot), file, function, depth);
  std::erase_if(values, [](const PythonValue& value) { return !value.element; });
  return values;
}

PythonTypes::Values PythonTypes::module_name(std::string_view name, uint32_t file,
                                             int depth) const {
  if (const auto found = resolve(name, file)) {
    const PythonRef ref = {found->file, static_cast<uint32_t>(found->index)};
    switch (found->kind) {
      case PythonName::Kind::kFunction:
        return {{Kind::kFunction, ref, false, Certainty::kCertain, false, "", ""}};
      case PythonName::Kind::kClass:
        return {{Kind::kClass, ref, false, Certainty::kCertain, false, "", ""}};
      case PythonName::Kind::kModule:
        return {{Kind::kModule, {found->file, 0}, false, Certainty::kCertain, false, "", ""}};
      case PythonName::Kind::kConstant:
        break;
    }
  }
  if (const auto table = table_ids_.find(std::pair(file, std::string(name)));
      table != table_ids_.end())
    return {{Kind::kTable, {file, table->second}, false, Certainty::kCertain, false, "", ""}};
  Values out;
  if (const auto flows = files_[file].flows.find(name); flows != files_[file].flows.end()) {
    for (const uint32_t i : flows->second) {
      const python::ValueFlow& flow = readings_.readings[file].python.flows[i];
      // `global name` inside a function sets it too; a local one of this name would have been
      // found before.
      if (!flow.type.empty()) add_all(out, annotated(flow.type, file));
      if (flow.value != name && (flow.function == kModuleLevel || name.starts_with('_')))
        add_all(out, evaluate(flow.value, file, flow.function, depth + 1));
    }
  }
  if (!out.empty()) return out;
  for (const python::Import& import : readings_.readings[file].python.imports) {
    if (import.bound_to != name) continue;
    const auto home = names_.find_module(import.module, file);
    if (home && *home != file && !import.name.empty() && depth < kMaxDepth)
      return module_name(import.name, *home, depth + 1);
    // `if rocm: import a as gpu`, `else: import b as gpu`: either can be meant.
    if (!home && !import.module.starts_with('.'))
      add(out, {Kind::kForeign, {}, false, Certainty::kCertain, false, import.module, ""});
  }
  return out;
}

PythonTypes::Values PythonTypes::attribute(const PythonValue& of, std::string_view name,
                                           int depth) const {
  if (depth > kMaxDepth) return {};
  switch (of.kind) {
    case Kind::kModule:
      return module_name(name, of.ref.file, depth);
    case Kind::kForeign:
      return of.module == "torch" ? of_torch(of, name) : Values{of};
    case Kind::kTable:
      if (name == "get" || name == "lookup") return {of};
      return {};
    case Kind::kScope:
      return member_of_scope(of.ref, name, depth);
    case Kind::kBuilt:
      return of_built(of, name);
    case Kind::kFunction:
      return {};
    case Kind::kClass:
    case Kind::kInstance:
      return instance_attribute(of, name, depth);
  }
  return {};
}

PythonTypes::Values PythonTypes::instance_attribute(const PythonValue& of, std::string_view name,
                                                    int depth) const {
  if (const auto method = find_method(of.ref, name)) {
    if (is_property(function(*method))) return returned(*method, depth);
    PythonValue bound = {Kind::kFunction, *method, of.exact, of.certainty, false, "", of.through};
    Values out;
    const bool abstract = is_abstract(*method);
    if (!abstract) add(out, bound);
    // Whoever is not known to be of just this class may be of one that inherits.
    if (abstract || (!of.exact && of.kind == Kind::kInstance)) {
      for (const PythonRef& other : overriding(of.ref, name)) {
        add(out, {Kind::kFunction, other, true, abstract ? Certainty::kLikely : Certainty::kUnsure,
                  false, "", type(of.ref).name});
      }
    }
    if (out.empty()) add(out, bound);
    return out;
  }
  // torch.autograd.Function: Class.apply(…) runs forward, and backward later.
  const auto& bases = type(of.ref).bases;
  const bool autograd = std::any_of(bases.begin(), bases.end(), [](const std::string& base) {
    return last_part(base) == "Function";
  });
  if (of.kind == Kind::kClass && name == "apply" && autograd) {
    Values out;
    for (const std::string_view method : {"forward", "backward"}) {
      if (const auto found = find_method(of.ref, method))
        add(out, {Kind::kFunction, *found, true, Certainty::kLikely, false, "", ""});
    }
    return out;
  }
  Values out;
  if (const auto field = names_.find_field(of.ref.file, type(of.ref), name)) {
    add_all(out, annotated(field->field->type, field->file));
    if (out.empty() && field->field->default_value)
      add_all(out, evaluate(*field->field->default_value, field->file, kModuleLevel, depth + 1));
  }
  add_all(out, assigned_attribute(of.ref, name, depth));
  return out;
}

// self.name = value in a method of the class or of one that it inherits from.
PythonTypes::Values PythonTypes::assigned_attribute(const PythonRef& of, std::string_view name,
                                                    int depth) const {
  if (depth > kMaxDepth) return {};
  Values out;
  const python::PythonFile& python = readings_.readings[of.file].python;
  const std::string target = "self." + std::string(name);
  if (const auto flows = files_[of.file].flows.find(target); flows != files_[of.file].flows.end()) {
    for (const uint32_t i : flows->second) {
      const python::ValueFlow& flow = python.flows[i];
      if (flow.function == kModuleLevel) continue;
      const auto owner = class_of({of.file, flow.function});
      if (owner != of) continue;
      if (!flow.type.empty()) add_all(out, annotated(flow.type, of.file));
      Values values = evaluate(flow.value, of.file, flow.function, depth + 1);
      for (PythonValue& value : values) value.element |= flow.kind == python::FlowKind::kEntry;
      add_all(out, values);
    }
  }
  if (!out.empty()) return out;
  for (const PythonRef& base : bases_of(of))
    add_all(out, assigned_attribute(base, name, depth + 1));
  return out;
}

PythonTypes::Values PythonTypes::registered(const PythonValue& table) const {
  Values out = tables_[table.ref.index];
  for (PythonValue& value : out) {
    value.certainty = Certainty::kLikely;
    value.through = table_names_[table.ref.index];
  }
  return out;
}

PythonTypes::Values PythonTypes::called(const PythonValue& of, int depth) const {
  if (depth > kMaxDepth) return {};
  switch (of.kind) {
    case Kind::kClass:
      return {{Kind::kInstance, of.ref, of.certainty == Certainty::kCertain, of.certainty, false,
               "", of.through}};
    case Kind::kFunction: {
      Values out = returned(of.ref, depth);
      if (!has_instance(out)) add(out, {Kind::kScope, of.ref, false, of.certainty, false, "", ""});
      return out;
    }
    case Kind::kScope:
      return {};
    case Kind::kBuilt: {
      // A method of what the function returned builds the module; what an export returns is data.
      if (!jit_.exported(of.ref, of.member).empty()) return {};
      PythonValue module = of;
      module.member.clear();
      return {module};
    }
    case Kind::kTable:
      return registered(of);
    case Kind::kForeign:
      return {of};
    case Kind::kInstance:
      if (const auto method = find_method(of.ref, "__call__")) return returned(*method, depth);
      return {};
    case Kind::kModule:
      return {};
  }
  return {};
}

PythonTypes::Values PythonTypes::returned(const PythonRef& ref, int depth) const {
  const python::Function& f = function(ref);
  const Values built = built_by(ref, depth);
  if (Values out = annotated(f.returns, ref.file); !out.empty()) {
    add_all(out, built);
    return out;
  }
  Values out = built;
  if (depth > kMaxDepth) return out;
  for (const python::ValueFlow& flow : flows_in(ref)) {
    if (flow.kind == python::FlowKind::kReturn)
      add_all(out, evaluate(flow.value, ref.file, ref.index, depth + 1));
  }
  return out;
}

// What SimpleNamespace(name=…) or a function inside is, of what a function returns.
PythonTypes::Values PythonTypes::member_of_scope(const PythonRef& ref, std::string_view name,
                                                 int depth) const {
  Values out;
  for (const python::ValueFlow& flow : flows_in(ref)) {
    if (flow.kind == python::FlowKind::kMember && flow.target == name)
      add_all(out, evaluate(flow.value, ref.file, ref.index, depth + 1));
  }
  for (PythonValue& value : out) value.certainty = std::max(value.certainty, Certainty::kLikely);
  if (!out.empty()) return out;
  const auto& functions = files_[ref.file].functions;
  const auto inner = functions.find(qualified_name(function(ref)) + "." + std::string(name));
  if (inner == functions.end()) return {};
  return {{Kind::kFunction, {ref.file, inner->second}, true, Certainty::kLikely, false, "", ""}};
}

// The C++ module that a function builds, or that one builds whose value it returns.
PythonTypes::Values PythonTypes::built_by(const PythonRef& ref, int depth) const {
  if (jit_.builds(ref)) return {{Kind::kBuilt, ref, true, Certainty::kLikely, false, "", "", ""}};
  if (depth > kMaxDepth || !jit_.may_hand_on(function(ref).name)) return {};
  Values out;
  for (const python::ValueFlow& flow : flows_in(ref)) {
    if (flow.kind == python::FlowKind::kReturn)
      add_all(out, evaluate(flow.value, ref.file, ref.index, depth + 1));
  }
  std::erase_if(out, [](const PythonValue& value) { return value.kind != Kind::kBuilt; });
  return out;
}

// torch.ops.library.name: what TORCH_LIBRARY defines, perhaps of this repository.
PythonTypes::Values PythonTypes::of_torch(const PythonValue& of, std::string_view name) const {
  PythonValue out = of;
  if (!of.member.empty())
    (out.member += '.') += name;
  else if (name == "ops")
    out.member = name;
  return {out};
}

PythonTypes::Values PythonTypes::of_built(const PythonValue& module,
                                          std::string_view member) const {
  PythonValue out = module;
  out.member = member;
  return {out};
}

std::optional<PythonRef> PythonTypes::builder_around(const PythonRef& ref) const {
  if (jit_.builds(ref)) return ref;
  std::string_view scope = function(ref).scope;
  while (!scope.empty()) {
    const auto& functions = files_[ref.file].functions;
    const auto found = functions.find(std::string(scope));
    if (found != functions.end() && jit_.builds({ref.file, found->second}))
      return PythonRef{ref.file, found->second};
    const size_t dot = scope.rfind('.');
    scope = dot == std::string_view::npos ? std::string_view() : scope.substr(0, dot);
  }
  return std::nullopt;
}

}  // namespace fathom
