#include "scan/link/python_launch_values.h"

#include "scan/facts/text_lines.h"

namespace fathom {
void PythonLaunchValues::add_arguments(const python::Launch& launch, const python::Function& kernel,
                                       KernelLauncher& launcher) const {
  const std::vector<python::Argument>& parameters = kernel.parameters;
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    const python::Argument& given = launch.arguments[i];
    if (given.name.empty() && i >= parameters.size()) break;
    launcher.arguments.push_back(
        {given.name.empty() ? parameters[i].name : given.name, given.text, launcher.at});
  }
  add_values(launch, launcher);
}

// What the names in the arguments and the grid were last set to before the launch.
void PythonLaunchValues::add_values(const python::Launch& launch, KernelLauncher& launcher) const {
  constexpr size_t kMost = 24;
  std::vector<std::string> wanted;
  const auto want = [&](std::string_view text) {
    for (const std::string_view name : code_names(text)) {
      if (!contains(wanted, name)) wanted.emplace_back(name);
    }
  };
  want(launcher.grid);
  for (const NamedValue& argument : launcher.arguments) want(argument.text);
  for (size_t i = 0; i < wanted.size() && launcher.argument_values.size() < kMost; ++i) {
    const python::AssignedValue* last = last_value(launcher.at.file, wanted[i], launch.line_last);
    if (last == nullptr || last->text == last->name) continue;
    launcher.argument_values.push_back({last->name, last->text, {launcher.at.file, last->line}});
    want(last->text);
  }
}

// The last of the file's values that the name has up to a line; null: none.
const python::AssignedValue* PythonLaunchValues::last_value(uint32_t file, const std::string& name,
                                                            uint32_t line) const {
  auto known = values_.find(file);
  if (known == values_.end()) {
    known = values_.emplace(file, ValuesByName()).first;
    for (const python::AssignedValue& value : readings_.readings[file].python_values)
      known->second[value.name].push_back(&value);
  }
  const auto found = known->second.find(name);
  if (found == known->second.end()) return nullptr;
  // In the order of the file, where lines do not always grow.
  constexpr size_t kMaxTries = 1000;
  for (size_t i = found->second.size(), tries = 0; i-- > 0 && tries < kMaxTries; ++tries) {
    const python::AssignedValue* value = found->second[i];
    if (value->line <= line && is_seen_from(file, value->line, line)) return value;
  }
  return nullptr;
}

// Whether the innermost function around the first line, if any, is around the second one too.
bool PythonLaunchValues::is_seen_from(uint32_t file, uint32_t value_line, uint32_t line) const {
  const std::optional<FunctionNode> function = places_.at({file, value_line});
  if (!function) return true;
  const python::Function& around = readings_.readings[file].python.functions[function->index];
  return around.line_first <= line && line <= around.line_last;
}

}  // namespace fathom
