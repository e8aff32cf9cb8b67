#include "app/scope_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <vector>

#include "app/option_rules.h"
#include "session/step_choice.h"

namespace fathom {
void add_scope_options(CLI::App& command, ScopeArguments& arguments) {
  command
      .add_option("--steps", arguments.steps,
                  "Analyze only these steps, by position from 0 or by name: 2, 1:3 (the end is not "
                  "included), 2:, 'ProfilerStep#2', '#2:#4' (default: the whole trace)")
      ->check([](const std::string& text) {
        return !is_step_positions(text) || parse_step_positions(text)
                   ? std::string()
                   : fmt::format(
                         "expected A:B with A < B, A:, :B or A, or names of steps; got '{}'", text);
      });
  command
      .add_option("--step-pattern", arguments.step_pattern,
                  "Treat annotations of this name as steps; * and ? match any")
      ->capture_default_str();
  command.add_option("--device", arguments.device, "Analyze only the work of this GPU")
      ->transform(whole_number({0, INT32_MAX, 0}))
      ->option_text("N");
  command.add_flag("--include-unlinked", arguments.include_unlinked,
                   "Include GPU work without a launch in the file in gpu_timeline");
}

std::string scope_text(const ScopeArguments& arguments, uint64_t max_size) {
  std::vector<std::string> parts;
  if (!arguments.steps.empty()) parts.push_back("--steps " + arguments.steps);
  if (arguments.step_pattern != kProfilerSteps)
    parts.push_back("--step-pattern " + arguments.step_pattern);
  if (arguments.device) parts.push_back(fmt::format("--device {}", *arguments.device));
  if (max_size > 0) parts.push_back(fmt::format("--max-size {}", max_size));
  return fmt::format("{}", fmt::join(parts, " "));
}

Result<Scope> make_scope(const ScopeArguments& arguments, const Trace& trace) {
  Scope scope;
  scope.step_pattern = arguments.step_pattern;
  scope.device = arguments.device;
  scope.include_unlinked = arguments.include_unlinked;
  if (!arguments.steps.empty())
    scope.steps = TRY(choose_steps(trace, scope.step_pattern, arguments.steps));
  return scope;
}

}  // namespace fathom
