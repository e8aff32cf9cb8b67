#include "story/template_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "scan/cpp/expressions.h"
#include "scan/cpp/references.h"

namespace fathom {
namespace {

// "a, b | a, c" → {{a, b}, {a, c}}
std::vector<std::vector<std::string>> alternatives_in(std::string_view text) {
  std::vector<std::vector<std::string>> out;
  while (!text.empty()) {
    const size_t bar = text.find(" | ");
    out.push_back(cpp::listed_arguments(text.substr(0, bar)));
    text = bar == std::string_view::npos ? std::string_view() : text.substr(bar + 3);
  }
  return out;
}

}  // namespace

std::string bound_text(std::string_view parameters, std::string_view arguments) {
  const std::vector<std::string> names = cpp::template_parameter_names(parameters),
                                 given = cpp::listed_arguments(arguments);
  std::string out;
  for (size_t i = 0; i < std::min(names.size(), given.size()); ++i) {
    if (names[i] == given[i]) continue;
    out += (out.empty() ? "" : ", ") + names[i] + " = " + given[i];
  }
  return out;
}

TemplateValues::TemplateValues(std::string_view parameters, const KernelLauncher* launcher) {
  if (launcher == nullptr) return;
  const auto alternatives = alternatives_in(launcher->template_arguments);
  if (alternatives.empty()) return;
  const std::vector<std::string> names = cpp::template_parameter_names(parameters);
  for (size_t i = 0; i < names.size(); ++i) {
    const auto same = [&](const std::vector<std::string>& list) {
      return i < list.size() && list[i] == alternatives[0][i];
    };
    if (i >= alternatives[0].size() || !std::all_of(alternatives.begin(), alternatives.end(), same))
      continue;
    Value value{alternatives[0][i], std::nullopt};
    for (const NamedValue& known : launcher->values) {
      if (known.name != value.text) continue;
      value.known = known;
      break;
    }
    values_[names[i]] = std::move(value);
  }
}

void TemplateValues::bind(std::string_view parameters, std::string_view arguments,
                          const TemplateValues& outer) {
  const std::vector<std::string> names = cpp::template_parameter_names(parameters),
                                 given = cpp::listed_arguments(arguments);
  for (size_t i = 0; i < std::min(names.size(), given.size()); ++i) {
    const auto known = outer.values_.find(given[i]);
    values_[names[i]] =
        known == outer.values_.end() ? Value{given[i], std::nullopt} : known->second;
  }
}

std::optional<StepRemark> TemplateValues::remark_on(std::string_view condition) const {
  const bool negated = condition.starts_with('!');
  if (negated) condition.remove_prefix(1);
  const auto found = values_.find(condition);
  if (found == values_.end()) return std::nullopt;
  const Value& value = found->second;
  const std::string& text = value.known ? value.known->text : value.text;
  if (text != "true" && text != "false") return std::nullopt;
  const bool on = (text == "true") != negated;
  const std::string name = value.known ? value.known->name : std::string(condition);
  // What the launch writes out holds there; a value that it takes from elsewhere is a default.
  if (!value.known)
    return StepRemark{on ? Phrase::kOnAtLaunch : Phrase::kOffAtLaunch, name + " = " + text, {}, {}};
  return StepRemark{on ? Phrase::kOnByDefault : Phrase::kOffByDefault, name + " = " + text,
                    value.known->at, Certainty::kLikely};
}

}  // namespace fathom
