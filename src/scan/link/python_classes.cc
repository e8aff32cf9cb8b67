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
  static const std::vector<uint32_t> kNone;
  const auto found = files_[file].find(target);
  return found == files_[file].end() ? kNone : found->second;
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
        const auto found = names_.resolve(base, file);
        if (!found || found->kind != PythonName::Kind::kClass) continue;
        const PythonRef of = {found->file, static_cast<uint32_t>(found->index)};
        if (of == PythonRef{file, i}) continue;
        derived_[of].push_back({file, i});
        bases_[{file, i}].push_back(of);
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

std::vector<PythonRef> PythonClasses::bases_of(const PythonRef& of) const {
  const auto found = bases_.find(of);
  return found == bases_.end() ? std::vector<PythonRef>() : found->second;
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
  constexpr size_t kMaxClasses = 64;
  std::vector<PythonRef> left = {of}, seen;
  while (!left.empty() && seen.size() < kMaxClasses) {
    const PythonRef at = left.back();
    left.pop_back();
    if (std::find(seen.begin(), seen.end(), at) != seen.end()) continue;
    seen.push_back(at);
    if (const auto found = own_method(at, name)) return found;
    const std::vector<PythonRef> bases = bases_of(at);
    left.insert(left.end(), bases.rbegin(), bases.rend());
  }
  return std::nullopt;
}

std::vector<PythonRef> PythonClasses::overriding(const PythonRef& of,
                                                 std::string_view method) const {
  std::vector<PythonRef> out, open = {of};
  std::set<PythonRef> seen = {of};
  for (size_t i = 0; i < open.size() && open.size() < 400; ++i) {
    const auto found = derived_.find(open[i]);
    if (found == derived_.end()) continue;
    for (const PythonRef& next : found->second) {
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
    const auto found = names_.resolve(annotation.substr(at, end - at), file);
    if (found && found->kind == PythonName::Kind::kClass)
      out.push_back({found->file, static_cast<uint32_t>(found->index)});
    at = end;
  }
  return out;
}

}  // namespace fathom
