#include "scan/link/python_tables.h"

#include "base/text_parts.h"

namespace fathom {

PythonTables::PythonTables(const Readings& readings, const PythonNames& names,
                           const PythonClasses& classes)
    : readings_(readings), names_(names), classes_(classes) {
  using Kind = PythonValue::Kind;
  for (uint32_t file = 0; file < readings.files.size(); ++file) {
    const python::PythonFile& python = readings.readings[file].python;
    for (uint32_t i = 0; i < python.functions.size(); ++i)
      add_decorated(file, python.functions[i].decorators, {Kind::kFunction, {file, i}, false, {}});
    for (uint32_t i = 0; i < python.classes.size(); ++i)
      add_decorated(file, python.classes[i].decorators, {Kind::kClass, {file, i}, false, {}});
    add_entries(file);
  }
}

PythonValues& PythonTables::table(uint32_t file, const std::string& name) {
  const auto [at, fresh] = ids_.emplace(std::pair(file, name), values_.size());
  if (fresh) {
    values_.emplace_back();
    table_names_.push_back(name);
  }
  return values_[at->second];
}

std::optional<uint32_t> PythonTables::home_of(std::string_view name, uint32_t file) const {
  bool imported = false;
  for (const python::Import& import : readings_.readings[file].python.imports) {
    if (import.bound_to != name) continue;
    imported = true;
    if (import.name.empty()) continue;
    if (const auto module = names_.find_module(import.module, file)) return module;
  }
  return imported ? std::nullopt : std::optional(file);
}

void PythonTables::add_decorated(uint32_t file, const std::vector<std::string>& decorators,
                                 const PythonValue& value) {
  for (const std::string& decorator : decorators) {
    const std::string_view callee = std::string_view(decorator).substr(0, decorator.find('('));
    const size_t dot = callee.find('.');
    if (dot == std::string_view::npos || !holds(callee, "register")) continue;
    const std::string name(callee.substr(0, dot));
    if (const auto home = home_of(name, file)) add_value(table(*home, name), value);
  }
}

void PythonTables::add_entries(uint32_t file) {
  using Kind = PythonValue::Kind;
  for (const python::ValueFlow& flow : readings_.readings[file].python.flows) {
    if (flow.kind != python::FlowKind::kEntry || flow.function != kPythonModuleLevel) continue;
    const auto found = names_.resolve(flow.value, file);
    if (!found) continue;
    const PythonRef ref = found->ref();
    if (found->kind == PythonName::Kind::kFunction)
      add_value(table(file, flow.target), {Kind::kFunction, ref, false, {}});
    if (found->kind == PythonName::Kind::kClass)
      add_value(table(file, flow.target), {Kind::kClass, ref, false, {}});
  }
}

std::optional<uint32_t> PythonTables::find(uint32_t file, std::string_view name) const {
  const auto found = ids_.find(std::pair(file, std::string(name)));
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

PythonValues PythonTables::registered(uint32_t table) const {
  PythonValues out = values_[table];
  for (PythonValue& value : out) {
    value.certainty = Certainty::kLikely;
    value.through = table_names_[table];
  }
  return out;
}

}  // namespace fathom
