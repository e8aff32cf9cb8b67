#include "scan/link/api_surface.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "scan/facts/code_names.h"
#include "scan/facts/text_lines.h"
#include "scan/files/code_purpose.h"

namespace fathom {
namespace {

constexpr size_t kLongestSignature = 300;

std::string one_line(std::string_view text) {
  std::string out = on_one_line(text);
  if (out.size() > kLongestSignature) {
    out.resize(kLongestSignature);
    while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xC0) == 0x80) out.pop_back();
    out += "…";
  }
  return out;
}

std::string first_sentence(std::string_view doc) {
  const size_t end = doc.find(". ");
  return one_line(std::string(end == std::string_view::npos ? doc : doc.substr(0, end + 1)));
}

// "(q: Tensor, *, scale: float = 1.0) -> Tensor"; a method's self is left out.
std::string signature_of(const python::Function& function, bool method) {
  std::string out = "(";
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const python::Argument& parameter = function.parameters[i];
    if (i == 0 && method && (parameter.name == "self" || parameter.name == "cls")) continue;
    if (out.size() > 1) out += ", ";
    out += parameter.name;
    const bool typed = i < function.annotations.size() && !function.annotations[i].empty();
    if (typed) out += ": " + function.annotations[i];
    if (!parameter.text.empty()) out += (typed ? " = " : "=") + parameter.text;
  }
  out += ")";
  if (!function.returns.empty()) out += " -> " + function.returns;
  return one_line(std::move(out));
}

std::string signature_of(const python::PythonFile& file, const python::Class& type) {
  for (const python::Function& function : file.functions) {
    if (function.name == "__init__" && function.scope == type.name)
      return signature_of(function, true);
  }
  const bool data = std::any_of(type.decorators.begin(), type.decorators.end(),
                                [](const std::string& d) { return holds(d, "dataclass"); });
  if (!data) return "";
  std::string out = "(";
  for (const python::Field& field : type.fields) {
    if (field.type.empty()) continue;
    out += (out.size() > 1 ? ", " : "") + field.name + ": " + field.type;
    if (field.default_value) out += " = " + *field.default_value;
  }
  return one_line(out + ")");
}

class ApiLinker {
 public:
  ApiLinker(const Readings& readings, const PythonNames& names)
      : readings_(readings), names_(names) {}

  std::vector<ApiFacts> run(const std::vector<EntryPoint>& entry_points) {
    learn_module_names();
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      if (readings_.files[file].origin != Origin::kOwn) continue;
      const std::string& path = readings_.files[file].path;
      if (is_test_or_example(path)) continue;
      if (path.ends_with("/__init__.py")) package(file);
      bindings(file);
      if (is_public_header(path)) {
        header(file);
        header_classes(file);
      }
    }
    count_uses();
    for (auto& [_, fact] : exported_) out_.push_back(std::move(fact));
    for (const EntryPoint& entry : entry_points) add_entry(entry);
    std::stable_sort(out_.begin(), out_.end(), [](const ApiFacts& a, const ApiFacts& b) {
      return std::tuple(kind_rank(a.kind), depth(a), b.used_in, std::string_view(a.name), a.at) <
             std::tuple(kind_rank(b.kind), depth(b), a.used_in, std::string_view(b.name), b.at);
    });
    return std::move(out_);
  }

 private:
  static size_t kind_rank(EntryKind kind) {
    constexpr std::array kinds = {EntryKind::kConsoleScript, EntryKind::kHttpRoute,
                                  EntryKind::kCommand,       EntryKind::kFunction,
                                  EntryKind::kClass,         EntryKind::kBinding,
                                  EntryKind::kHeaderFunction};
    return static_cast<size_t>(std::find(kinds.begin(), kinds.end(), kind) - kinds.begin());
  }
  static size_t depth(const ApiFacts& fact) {
    return static_cast<size_t>(std::count(fact.name.begin(), fact.name.end(), '.') +
                               std::count(fact.name.begin(), fact.name.end(), ':') / 2);
  }

  // A package without an __init__.py around it is known by the name that imports give it.
  void learn_module_names() {
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      for (const python::Import& import : readings_.readings[file].python.imports) {
        if (import.module.empty() || import.module.starts_with('.')) continue;
        const auto module = names_.find_module(import.module, file);
        if (!module || !readings_.files[*module].path.ends_with("/__init__.py")) continue;
        std::string& known = module_names_[*module];
        if (import.module.size() > known.size()) known = import.module;
      }
    }
  }

  const std::string& module_name(uint32_t file) const {
    const auto found = module_names_.find(file);
    const std::string& own = names_.module_of(file);
    return found != module_names_.end() && found->second.size() > own.size() ? found->second : own;
  }

  // What a package's __init__.py hands on: what __all__ says, else all that it defines or imports
  // from the repository, but for names with an underscore and what it takes from other
  // packages to call it itself.
  void package(uint32_t file) {
    const python::PythonFile& python = readings_.readings[file].python;
    std::set<std::string_view> listed;
    for (const auto& [name, line] : python.exports) {
      listed.insert(name);
      add_export(file, name, line);
    }
    if (!listed.empty()) return;
    for (const python::Import& import : python.imports) {
      if (!import.name.empty() && import.name != "*" && hands_on(import, file))
        add_export(file, import.bound_to, import.line);
    }
    for (const python::Function& function : python.functions) {
      if (function.scope.empty()) add_export(file, function.name, function.line_name);
    }
    for (const python::Class& type : python.classes) {
      if (type.scope.empty()) add_export(file, type.name, type.line_name);
    }
  }

  // pkg/models/__init__.py takes a logger from pkg.utils to call it itself.
  bool hands_on(const python::Import& import, uint32_t file) const {
    const std::string& package = names_.module_of(file);
    const bool own = !holds(package, '.') || import.module == package ||
                     import.module.starts_with(package + ".") ||
                     (import.module.starts_with('.') && !import.module.starts_with(".."));
    if (own) return true;
    const python::PythonFile& python = readings_.readings[file].python;
    const auto calls_it = [&](const std::vector<python::Call>& calls) {
      return std::ranges::find(calls, import.bound_to, &python::Call::callee) != calls.end();
    };
    return !calls_it(python.module_calls) &&
           std::ranges::none_of(python.functions,
                                [&](const python::Function& f) { return calls_it(f.calls); });
  }

  void add_export(uint32_t file, std::string_view name, uint32_t line) {
    if (name.starts_with('_')) return;
    const auto found = names_.resolve(name, file);
    if (!found) return;
    const python::PythonFile& home = readings_.readings[found->file].python;
    ApiFacts fact;
    fact.name = module_name(file) + "." + std::string(name);
    fact.exported_at = {file, line};
    if (found->kind == PythonName::Kind::kFunction) {
      const python::Function& function = home.functions[found->index];
      fact.kind = EntryKind::kFunction;
      fact.signature = signature_of(function, false);
      fact.doc = first_sentence(function.doc);
      fact.at = {found->file, function.line_name};
    } else if (found->kind == PythonName::Kind::kClass) {
      const python::Class& type = home.classes[found->index];
      fact.kind = EntryKind::kClass;
      fact.signature = signature_of(home, type);
      fact.doc = first_sentence(type.doc);
      fact.at = {found->file, type.line_name};
    } else {
      return;
    }
    // One thing that several packages hand on is known by its shortest name.
    const auto [at, fresh] = exported_.try_emplace(fact.at, fact);
    if (!fresh && std::tuple(depth(fact), fact.name.size()) <
                      std::tuple(depth(at->second), at->second.name.size()))
      at->second = fact;
  }

  void count_uses() {
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      std::set<CodePlace> seen;
      for (const python::Import& import : readings_.readings[file].python.imports) {
        if (import.name.empty() || import.name == "*") continue;
        const auto module = names_.find_module(import.module, file);
        const auto found = module ? names_.resolve(import.name, *module) : std::nullopt;
        if (!found || found->file == file) continue;
        const CodePlace at = names_.place_of(*found);
        const auto fact = exported_.find(at);
        if (fact != exported_.end() && fact->second.exported_at.file != file &&
            seen.insert(at).second)
          ++fact->second.used_in;
      }
    }
  }

  void bindings(uint32_t file) {
    for (const cpp::Binding& binding : readings_.readings[file].usage.bindings) {
      ApiFacts fact;
      fact.kind = EntryKind::kBinding;
      fact.name = binding.exported;
      fact.signature = one_line(binding.via + ": " + binding.target);
      fact.at = fact.exported_at = {file, binding.line};
      if (!fact.name.empty()) out_.push_back(std::move(fact));
    }
  }

  void header(uint32_t file) {
    for (const cpp::Function& function : readings_.readings[file].cpp.functions) {
      if (function.kind != cpp::FunctionKind::kHost || !function.defined ||
          function.name.starts_with("operator") || !function.made_by.empty())
        continue;
      // Functions of classes and of details are not called by users.
      if (holds(function.scope, "detail") || is_class_scope(file, function.scope)) continue;
      ApiFacts fact;
      fact.kind = EntryKind::kHeaderFunction;
      fact.name = qualified_name(function);
      fact.signature =
          one_line((function.template_parameters.empty() ? "" : "template ") +
                   function.return_type + " " + function.name + "(" + function.parameters + ")");
      fact.at = fact.exported_at = {file, function.line_name};
      fact.certainty = Certainty::kLikely;
      out_.push_back(std::move(fact));
    }
  }

  // The headers beside a program's sources are its own.
  static bool is_public_header(std::string_view path) {
    return path.starts_with("include/") || (holds(path, "/include/") && !path.starts_with("src/"));
  }

  // The classes that a user of a library of headers makes objects of: those with methods.
  void header_classes(uint32_t file) {
    constexpr std::array<std::string_view, 4> inside = {"/detail/", "/impl/", "/internal/",
                                                        "/details/"};
    const std::string& path = readings_.files[file].path;
    for (const std::string_view folder : inside) {
      if (holds(path, folder)) return;
    }
    const cpp::Definitions& cpp = readings_.readings[file].cpp;
    std::set<std::string_view> with_methods, classes;
    for (const cpp::Class& type : cpp.classes) classes.insert(type.name);
    for (const cpp::Function& function : cpp.functions) {
      if (function.kind == cpp::FunctionKind::kHost && !function.name.starts_with("operator"))
        with_methods.insert(last_name(function.scope));
    }
    for (const cpp::Class& type : cpp.classes) {
      if (holds(type.scope, "detail") || !with_methods.contains(type.name) ||
          classes.contains(last_name(type.scope)))
        continue;
      ApiFacts fact;
      fact.kind = EntryKind::kClass;
      fact.name = qualified_name(type);
      fact.at = fact.exported_at = {file, type.line_name};
      fact.certainty = Certainty::kLikely;
      if (seen_classes_.insert(fact.name).second) out_.push_back(std::move(fact));
    }
  }

  bool is_class_scope(uint32_t file, std::string_view scope) const {
    const size_t at = scope.rfind("::");
    const std::string_view last = at == std::string_view::npos ? scope : scope.substr(at + 2);
    const auto& classes = readings_.readings[file].cpp.classes;
    return std::any_of(classes.begin(), classes.end(),
                       [&](const cpp::Class& c) { return c.name == last; });
  }

  void add_entry(const EntryPoint& entry) {
    if (entry.kind != EntryKind::kHttpRoute && entry.kind != EntryKind::kConsoleScript &&
        entry.kind != EntryKind::kCommand)
      return;
    if (is_test_or_example(readings_.files[entry.at.file].path)) return;
    ApiFacts fact;
    fact.kind = entry.kind;
    fact.name = entry.name;
    fact.signature = entry.target;
    fact.at = fact.exported_at = entry.at;
    fact.certainty = entry.certainty;
    for (const python::Function& function : readings_.readings[entry.at.file].python.functions) {
      if (function.name != entry.target || !function.scope.empty()) continue;
      fact.signature = function.name + signature_of(function, false);
      fact.doc = first_sentence(function.doc);
      fact.at.line = function.line_name;
    }
    out_.push_back(std::move(fact));
  }

  const Readings& readings_;
  const PythonNames& names_;
  std::map<uint32_t, std::string> module_names_;
  std::map<CodePlace, ApiFacts> exported_;  // by where it is defined
  std::set<std::string> seen_classes_;      // a specialisation has its template's name
  std::vector<ApiFacts> out_;
};

}  // namespace

std::vector<ApiFacts> link_api(const Readings& readings, const PythonNames& names,
                               const std::vector<EntryPoint>& entry_points) {
  return ApiLinker(readings, names).run(entry_points);
}

}  // namespace fathom
