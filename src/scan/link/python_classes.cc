#include "scan/link/python_classes.h"

#include <algorithm>
#include <set>

#include "scan/facts/code_names.h"
#include "scan/facts/text_lines.h"

namespace fathom {

bool has_decorator(const python::Function& function, std::string_view name) {
  return std::any_of(
      function.decorators.begin(), function.decorators.end(),
      [&](const std::string& d) { return last_part(d.substr(0, d.find('('))) == name; });
}

PythonClasses::PythonClasses(const Readings& readings, const PythonNames& names)
    : readings_(readings), names_(names), files_(readings.files.size()) {
  for (uint32_t file = 0; file < readings.files.size(); ++file) index_file(file);
  index_bases();
}

const std::vector<uint32_t>& PythonClasses::flows_to(std::string_view target, uint32_t file) const {
  return value_or_empty(files_[file], target);
}

void PythonClasses::index_file(uint32_t file) {
  const python::PythonFile& python = readings_.readings[file].python;
  for (uint32_t i = 0; i < python.flows.size(); ++i) {
    const python::ValueFlow& flow = python.flows[i];
    if (flow.kind == python::FlowKind::kCheck || flow.kind == python::FlowKind::kHand) continue;
    if (flow.kind != python::FlowKind::kReturn && flow.kind != python::FlowKind::kMember)
      files_[file][flow.target].push_back(i);
  }
}

void PythonClasses::index_bases() {
  for (uint32_t file = 0; file < files_.size(); ++file) {
    const auto& classes = readings_.readings[file].python.classes;
    for (uint32_t i = 0; i < classes.size(); ++i) {
      for (const std::string& written : classes[i].bases) {
        const std::string_view base = std::string_view(written).substr(0, written.find('['));
        const auto of = names_.resolve_class(base, file);
        if (!of || of == PythonRef{file, i}) continue;
        derived_[*of].push_back({file, i});
        bases_[{file, i}].push_back(*of);
      }
    }
  }
}

std::optional<PythonRef> PythonClasses::class_of(const PythonRef& ref) const {
  const python::Function& f = function(ref);
  return f.scope.empty() ? std::nullopt : names_.find_class(ref.file, f.scope);
}

std::vector<python::ValueFlow> PythonClasses::flows_in(const PythonRef& ref) const {
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

const std::vector<PythonRef>& PythonClasses::bases_of(const PythonRef& of) const {
  return value_or_empty(bases_, of);
}

bool PythonClasses::inherits(const PythonRef& derived, const PythonRef& base) const {
  std::vector<PythonRef> open = {derived};
  for (size_t i = 0; i < open.size() && i < 64; ++i) {
    if (open[i] == base) return true;
    for (const PythonRef& next : bases_of(open[i])) open.push_back(next);
  }
  return false;
}

std::optional<PythonRef> PythonClasses::own_method(const PythonRef& of,
                                                   std::string_view name) const {
  std::string key = qualified_name(type(of));
  key += '.';
  key += name;
  return names_.find_function(of.file, key);
}

std::optional<PythonRef> PythonClasses::find_method(const PythonRef& of,
                                                    std::string_view name) const {
  std::optional<PythonRef> found;
  for_each_base(of, [&](const PythonRef& at) {
    if (!found) found = own_method(at, name);
    return found.has_value();
  });
  return found;
}

std::vector<PythonRef> PythonClasses::overriding(const PythonRef& of,
                                                 std::string_view method) const {
  std::vector<PythonRef> out, open = {of};
  std::set<PythonRef> seen = {of};
  for (size_t i = 0; i < open.size() && open.size() < 400; ++i) {
    for (const PythonRef& next : value_or_empty(derived_, open[i])) {
      if (!seen.insert(next).second) continue;
      open.push_back(next);
      const auto own = own_method(next, method);
      if (own && class_of(*own) == next && !is_abstract(*own)) out.push_back(*own);
    }
  }
  return out;
}

// Marked as such, or nothing but `raise NotImplementedError`.
bool PythonClasses::is_abstract(const PythonRef& ref) const {
  const python::Function& f = function(ref);
  if (has_decorator(f, "abstractmethod")) return true;
  if (!f.calls.empty()) return f.calls.size() == 1 && f.calls[0].callee == "NotImplementedError";
  // `raise NotImplementedError`, `...` and `pass` call nothing and take a line, besides a
  // docstring.
  const uint32_t lines = f.line_last - f.line_name;
  return !f.scope.empty() && lines <= 3 + f.parameters.size() && flows_in(ref).empty();
}

std::vector<PythonRef> PythonClasses::classes_in(std::string_view annotation, uint32_t file) const {
  std::vector<PythonRef> out;
  size_t at = 0;
  while (at < annotation.size()) {
    if (!is_word_character(annotation[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < annotation.size() &&
           (is_word_character(annotation[end]) || annotation[end] == '.'))
      ++end;
    const auto found = names_.resolve_class(annotation.substr(at, end - at), file);
    if (found) out.push_back(*found);
    at = end;
  }
  return out;
}

}  // namespace fathom
