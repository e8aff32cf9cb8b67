#include "app/option_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "app/command_tree.h"
#include "base/closest_names.h"

namespace fathom {
namespace {

constexpr std::string_view kExitCodesHeading = "Exit codes: 0 done, 1 failed, 2 usage error.";

void add_color_option(CLI::App& app, Terminal& terminal) {
  app.add_option_function<std::string>(
         "--color", [&terminal](const std::string& when) { terminal.choose_color(when); },
         "Use colours: auto (default: on a terminal, unless NO_COLOR is set), always or never")
      ->check(one_of({"auto", "always", "never"}))
      ->option_text("WHEN");
}

// Most often a variable of the shell that is not set.
CLI::Validator not_empty() {
  return {[](const std::string& word) {
            return std::string(word.empty() ? "expected a value, got an empty word" : "");
          },
          ""};
}

}  // namespace

CLI::Validator one_of(std::vector<std::string> words) {
  const std::string shown = fmt::format("{{{}}}", fmt::join(words, ","));
  return {[words = std::move(words)](const std::string& word) {
            if (std::ranges::find(words, word) != words.end()) return std::string();
            return fmt::format("'{}' is none of {}{}", word, fmt::join(words, ", "),
                               did_you_mean(word, words));
          },
          shown};
}

void add_common_rules(CLI::App& app, Terminal& terminal) {
  add_color_option(app, terminal);
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() > 0) option->check(not_empty());
    const bool throws = option->get_multi_option_policy() == CLI::MultiOptionPolicy::Throw;
    if (throws && option->nonpositional() && option->get_items_expected_max() == 1)
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
  const std::string footer = app.get_footer();
  if (footer.find("Exit codes") == std::string::npos)
    app.footer(fmt::format("{}{}{}", footer, footer.empty() ? "" : "\n\n", kExitCodesHeading));
  for (CLI::App* command : app.get_subcommands({})) add_common_rules(*command, terminal);
}

}  // namespace fathom
