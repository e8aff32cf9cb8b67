#include "app/scope_options.h"

#include <charconv>

namespace fathom {
namespace {

// "2:5", "2:", ":5" or "3".
std::optional<Scope::StepRange> parse_steps(std::string_view text) {
  const auto number = [](std::string_view digits, size_t& value) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size();
  };
  Scope::StepRange range;
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    if (!number(text, range.begin) || range.begin == SIZE_MAX) return {};
    range.end = range.begin + 1;
    return range;
  }
  const std::string_view begin = text.substr(0, colon), end = text.substr(colon + 1);
  if (!begin.empty() && !number(begin, range.begin)) return {};
  if (!end.empty() && !number(end, range.end)) return {};
  if (range.begin >= range.end) return {};
  return range;
}

}  // namespace

void add_scope_options(CLI::App& command, ScopeArguments& arguments) {
  command
      .add_option("--steps", arguments.steps,
                  "Only the steps A to B-1, counted from 0 (A:B, A:, :B or A)")
      ->check([](const std::string& text) {
        return parse_steps(text) ? std::string()
                                 : "expected A:B with A < B, A:, :B or A, got " + text;
      });
  command
      .add_option("--step-pattern", arguments.step_pattern,
                  "Annotations that are steps; * and ? match any")
      ->capture_default_str();
  command.add_option("--device", arguments.device, "Only the work of this GPU");
  command.add_flag("--include-unlinked", arguments.include_unlinked,
                   "Count GPU work whose launch is not in the file in gpu_timeline too");
}

Scope make_scope(const ScopeArguments& arguments) {
  Scope scope;
  scope.step_pattern = arguments.step_pattern;
  scope.device = arguments.device;
  scope.include_unlinked = arguments.include_unlinked;
  if (!arguments.steps.empty()) scope.steps = parse_steps(arguments.steps);
  return scope;
}

}  // namespace fathom
