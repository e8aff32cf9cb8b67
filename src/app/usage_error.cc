#include "app/usage_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "app/command_tree.h"
#include "base/closest_names.h"

namespace fathom {
namespace {

std::vector<std::string> names_of_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : visible_options(app)) {
    for (std::string& name : option_names(*option)) names.push_back(std::move(name));
  }
  return names;
}

bool has_option(const CLI::App& app, const std::string& name) {
  const std::vector<std::string> names = names_of_options(app);
  return std::ranges::find(names, name) != names.end();
}

// "fathom replay pack".
std::string full_name(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr ? app.get_name() : full_name(*parent) + " " + app.get_name();
}

std::string no_such_option(const CLI::App& command, const std::string& word) {
  std::error_code ignored;
  if (std::filesystem::exists(word, ignored))
    return fmt::format("{} looks like an option; put -- before the file", word);
  const std::string name = word.substr(0, word.find('='));
  for (const CLI::App* below = &command; !below->get_subcommands().empty();) {
    below = below->get_subcommands().back();
    if (has_option(*below, name))
      return fmt::format("{} is an option of the command: {} {}", name, full_name(*below), name);
  }
  for (const CLI::App* above = command.get_parent(); above; above = above->get_parent()) {
    if (has_option(*above, name))
      return fmt::format("{} comes before the command: {} {}", name, full_name(*above), name);
  }
  return fmt::format("{} has no option {}{}", full_name(command), name,
                     did_you_mean(name, names_of_options(command)));
}

std::optional<std::string> unknown_option(const CLI::App& command) {
  for (const std::string& word : command.remaining()) {
    if (word.size() > 1 && word.starts_with('-') && word != "--")
      return no_such_option(command, word);
  }
  return {};
}

// The command furthest down first: what follows a "--" there is left over at the top.
std::optional<std::string> unknown_name(const CLI::App& command) {
  const std::vector<CLI::App*> below = command.get_subcommands();
  if (!below.empty()) {
    if (std::optional<std::string> unknown = unknown_name(*below.back())) return unknown;
  }
  const std::vector<std::string> words = command.remaining();
  const bool wants_name = !words.empty() && !visible_commands(command).empty();
  const bool begins_with_name = wants_name && below.empty() && !words.front().starts_with('-');
  if (std::optional<std::string> unknown = unknown_option(command); unknown && !begins_with_name)
    return unknown;
  return wants_name ? std::optional(no_such_command(command, words.front())) : std::nullopt;
}

// The name of an error is at times the command's.
bool is_error(const CLI::ParseError& error, CLI::ExitCodes kind) {
  return error.get_exit_code() == static_cast<int>(kind);
}

}  // namespace

const CLI::App& named_command(const CLI::App& app) {
  const std::vector<CLI::App*> below = app.get_subcommands();
  return below.empty() ? app : named_command(*below.back());
}

bool wants_command(const CLI::App& app, const CLI::ParseError& error) {
  return is_error(error, CLI::ExitCodes::RequiredError) && app.remaining(true).empty() &&
         !visible_commands(named_command(app)).empty();
}

std::string usage_error(const CLI::App& app, const CLI::ParseError& error) {
  if (const std::optional<std::string> unknown = unknown_name(app)) return *unknown;
  std::string text = error.what();
  if (is_error(error, CLI::ExitCodes::ArgumentMismatch) && text.ends_with(" missing"))
    return text.substr(0, text.find(':')) + " needs a value";  // "--out: 1 required TEXT missing"
  // "Could not convert: --quiet = maybe": words are checked by rules of ours, flags are not.
  if (const size_t value = text.find(" = "), name = text.find(": ");
      is_error(error, CLI::ExitCodes::ConversionError) && name < value && value < text.size())
    return fmt::format("{} takes no value; got '{}'", text.substr(name + 2, value - name - 2),
                       text.substr(value + 3));
  const std::vector<std::string> words = app.remaining(true);
  if (!is_error(error, CLI::ExitCodes::ExtrasError) || words.empty()) return text;
  return fmt::format("unexpected argument '{}'", words.front());
}

std::string no_such_command(const CLI::App& parent, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* command : visible_commands(parent)) names.push_back(command->get_name());
  // "version" for --version.
  for (std::string& name : names_of_options(parent)) names.push_back(std::move(name));
  return fmt::format("there is no command '{}'{}", word, did_you_mean(word, names));
}

}  // namespace fathom
