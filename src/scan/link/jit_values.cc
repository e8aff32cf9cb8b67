#include "scan/link/jit_values.h"

#include <algorithm>
#include <set>

#include "base/text_parts.h"

namespace fathom {
namespace {

bool uses_name(std::string_view text, std::string_view name) {
  const auto word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (size_t at = 0; (at = text.find(name, at)) != std::string_view::npos; at += name.size()) {
    const bool begins = at == 0 || !word(text[at - 1]);
    const bool ends = at + name.size() >= text.size() || !word(text[at + name.size()]);
    if (begins && ends) return true;
  }
  return false;
}

bool is_needed(const KernelLauncher& launcher, std::string_view name) {
  const auto in_value = [&](const NamedValue& value) {
    return value.name == name || uses_name(value.text, name);
  };
  const auto in_attribute = [&](const LaunchAttribute& attribute) {
    return uses_name(attribute.value, name) || uses_name(attribute.condition, name);
  };
  return std::any_of(launcher.values.begin(), launcher.values.end(), in_value) ||
         std::any_of(launcher.attributes.begin(), launcher.attributes.end(), in_attribute) ||
         uses_name(launcher.grid, name) || uses_name(launcher.block, name) ||
         uses_name(launcher.shared_memory, name);
}

void add_values(const std::vector<python::AssignedValue>& found, uint32_t file,
                KernelLauncher& launcher) {
  // The last value of a name is the one that is passed on; branches come before the chain of them
  // all.
  std::set<std::string_view> added;
  const auto add = [&](const auto& is_wanted) {
    bool more = false;
    for (auto value = found.begin(); value != found.end(); ++value) {
      if (added.contains(value->name) || !is_wanted(value->name)) continue;
      const auto chain =
          std::find_if(found.begin(), found.end(), [&](const python::AssignedValue& other) {
            return other.name == value->name && holds(other.text, '?');
          });
      const python::AssignedValue& taken = chain == found.end() ? *value : *chain;
      added.insert(value->name);
      launcher.values.insert(launcher.values.begin(), {taken.name, taken.text, {file, taken.line}});
      more = true;
    }
    return more;
  };
  while (add([&](std::string_view name) { return is_needed(launcher, name); })) {
  }
  // What the template is filled in with, and not what that is made of in turn.
  add([&](std::string_view name) { return uses_name(launcher.template_arguments, name); });
}

}  // namespace

void link_jit_values(const Readings& readings, KernelFacts& kernel) {
  for (const PathHop& hop : kernel.path) {
    if (hop.kind != PathHopKind::kJitGenerator) continue;
    const std::vector<python::AssignedValue>& found = readings.readings[hop.at.file].python_values;
    for (KernelLauncher& launcher : kernel.launchers) add_values(found, hop.at.file, launcher);
    return;
  }
}

}  // namespace fathom
