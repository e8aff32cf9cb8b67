#include "app/option_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

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

// CLI11 reads numbers itself, hexadecimal and octal ones too, and says little of what is none.
CLI::Validator whole_number(NumberRange range) {
  return {
      [range](std::string& word) {
        int64_t value = 0;
        const char* const end = word.data() + word.size();
        const auto [rest, error] = std::from_chars(word.data(), end, value);
        if (error == std::errc() && rest == end && value >= range.least && value <= range.most) {
          word = std::to_string(value);
          return std::string();
        }
        return fmt::format("expected a whole number from {} to {}, such as {}; got '{}'",
                           range.least, range.most, range.example, word);
      },
      ""};
}

CLI::Validator own_place() {
  return {[](const std::string& word) {
            return std::string(word == "-" ? "- is standard output, which cannot hold it; ./- is a "
                                             "place of that name"
                                           : "");
          },
          ""};
}

CLI::Validator byte_size() {
  return {[](std::string& word) {
            constexpr std::string_view kUnits = "bkmgtpe";  // each 1024 of the one before it
            double size = 0;
            const char* const end = word.data() + word.size();
            const auto [rest, error] =
                std::from_chars(word.data(), end, size, std::chars_format::fixed);
            std::string unit(rest, end);
            unit.erase(0, unit.find_first_not_of(' '));
            for (char& c : unit) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
            const size_t power = unit.empty() ? 0 : kUnits.find(unit[0]);
            const std::string_view after = std::string_view(unit).substr(unit.empty() ? 0 : 1);
            const bool known =
                power != std::string_view::npos &&
                (after.empty() || (power > 0 && (after == "b" || after == "ib" || after == "i")));
            for (size_t i = 0; known && i < power; ++i) size *= 1024;
            constexpr double kMost = 9.2e18;  // as a whole number of 64 bits
            if (error != std::errc() || !known || !(size >= 1) || size > kMost)
              return fmt::format("expected a size above 0, such as 500MB or 20GB; got '{}'", word);
            word = fmt::format("{}", static_cast<uint64_t>(size));
            return std::string();
          },
          ""};
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
