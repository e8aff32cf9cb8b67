#include "app/command_tree.h"

#include <fmt/format.h>

#include <algorithm>

namespace fathom {
namespace {

// CLI11 keeps a group of options as a subcommand without a name, which inherits its own --help.
std::vector<const CLI::Option*> visible(const CLI::App& app, bool (CLI::Option::*kind)() const) {
  std::vector<const CLI::Option*> options = app.get_options([kind](const CLI::Option* option) {
    return !option->get_group().empty() && (option->*kind)();
  });
  for (const CLI::App* group : app.get_subcommands({})) {
    if (!group->get_name().empty() || group->get_group().empty()) continue;
    for (const CLI::Option* option : visible(*group, kind)) {
      if (option != group->get_help_ptr()) options.push_back(option);
    }
  }
  return options;
}

void add_commands(const CLI::App& app, const std::string& parent, const std::string& path,
                  std::vector<Command>& commands) {
  Command command{path, {path}, &app};
  for (const std::string& alias : app.get_aliases()) {
    command.spellings.push_back(fmt::format("{} {}", parent, alias));
  }
  commands.push_back(std::move(command));
  for (const CLI::App* child : visible_commands(app)) {
    add_commands(*child, path, path + " " + child->get_name(), commands);
  }
}

// The type that --help shows tells: TEXT, INT, DIR, FILE, PATH(existing), TEXT:{bash,zsh,fish}.
Value typed_value(const CLI::Option& option, Value::Kind text) {
  const std::string type = option.get_type_name();
  const auto has = [&](std::string_view part) { return type.find(part) != std::string::npos; };
  const size_t open = type.find('{'), close = type.find('}');
  if (open != std::string::npos && close != std::string::npos && open < close) {
    Value value{Value::Kind::kWords,
                CLI::detail::split(type.substr(open + 1, close - open - 1), ',')};
    // A transformer shows "word->what it means".
    for (std::string& word : value.words) word.resize(std::min(word.size(), word.find("->")));
    return value;
  }
  if (has("DIR")) return {Value::Kind::kDirectories, {}};
  if (has("FILE") || has("PATH")) return {Value::Kind::kFiles, {}};
  return {has("TEXT") ? text : Value::Kind::kText, {}};
}

}  // namespace

std::vector<const CLI::App*> visible_commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) {
    return !command->get_name().empty() && !command->get_group().empty() &&
           !command->get_disabled();
  });
}

std::vector<const CLI::Option*> visible_options(const CLI::App& app) {
  std::vector<const CLI::Option*> grouped;
  for (const CLI::Option* option : visible(app, &CLI::Option::nonpositional)) {
    const auto same_group = [&](const CLI::Option* other) {
      return other->get_group() == option->get_group();
    };
    const auto last = std::find_if(grouped.rbegin(), grouped.rend(), same_group);
    grouped.insert(last == grouped.rend() ? grouped.end() : last.base(), option);
  }
  return grouped;
}

std::vector<const CLI::Option*> visible_positionals(const CLI::App& app) {
  return visible(app, &CLI::Option::get_positional);
}

std::vector<Command> all_commands(const CLI::App& app) {
  std::vector<Command> commands;
  add_commands(app, "", "", commands);
  return commands;
}

std::vector<std::string> option_names(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

Value option_value(const CLI::Option& option) {
  if (option.get_items_expected_min() == 0) return {};
  // A report goes into a directory, whichever command writes it.
  return typed_value(option,
                     option.check_lname("out") ? Value::Kind::kDirectories : Value::Kind::kText);
}

Value positional_value(const CLI::Option& option) {
  return typed_value(option, Value::Kind::kFiles);
}

}  // namespace fathom
