#include <fmt/format.h>

#include "app/code/completion_scripts.h"
#include "app/command_tree.h"

namespace fathom {
namespace {

constexpr std::string_view kFishScript =
    R"(# fish completion for @program@, printed by: @program@ completion fish

# True when the commands typed so far are these.
function __@program@_at
    set -l path ''
    for word in (commandline -opc)[2..-1]
        switch "$path $word"
@commands@        end
    end
    test "$path" = "$argv[1]"
end

complete -c @program@ -f
@lines@)";

std::string fish_quoted(std::string_view text) {
  return "'" +
         replace_all(replace_all(replace_all(std::string(text), "\\", "\\\\"), "'", "\\'"), "\n",
                     " ") +
         "'";
}

// The part of a `complete` line that says what the value is.
std::string value_arguments(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNone:
      return {};
    case Value::Kind::kText:
      return " -x";
    case Value::Kind::kFiles:
      return " -r -F";
    case Value::Kind::kDirectories:
      return " -x -a '(__fish_complete_directories)'";
    case Value::Kind::kWords:
      break;
  }
  return fmt::format(" -x -a {}", fish_quoted(fmt::format("{}", fmt::join(value.words, " "))));
}

std::string option_arguments(const CLI::Option& option) {
  std::string out;
  for (const std::string& name : option.get_snames()) out += " -s " + name;
  for (const std::string& name : option.get_lnames()) out += " -l " + name;
  return out + value_arguments(option_value(option)) + " -d " +
         fish_quoted(option.get_description());
}

std::string positional_arguments(const CLI::Option& option) {
  const Value value = positional_value(option);
  if (value.kind == Value::Kind::kFiles) return " -F";
  if (value.kind == Value::Kind::kText) return {};
  return value_arguments(value).substr(std::string_view(" -x").size());
}

}  // namespace

std::string fish_completion(const CLI::App& app) {
  std::string commands, lines;
  for (const Command& command : all_commands(app)) {
    if (!command.path.empty()) {
      std::vector<std::string> patterns = command.spellings;
      for (std::string& pattern : patterns) pattern = fish_quoted(pattern);
      commands += fmt::format("            case {}\n                set path {}\n",
                              fmt::join(patterns, " "), fish_quoted(command.path));
    }
    const std::string begin = fmt::format(
        "complete -c @program@ -n {}", fish_quoted("__@program@_at " + fish_quoted(command.path)));
    for (const CLI::Option* option : visible_options(*command.app)) {
      lines += begin + option_arguments(*option) + "\n";
    }
    for (const CLI::App* below : visible_commands(*command.app)) {
      lines += fmt::format("{} -a {} -d {}\n", begin, below->get_name(),
                           fish_quoted(below->get_description()));
    }
    for (const CLI::Option* option : visible_positionals(*command.app)) {
      const std::string arguments = positional_arguments(*option);
      if (!arguments.empty()) lines += begin + arguments + "\n";
    }
  }
  return fill_script(kFishScript,
                     {{"commands", commands}, {"lines", lines}, {"program", app.get_name()}});
}

}  // namespace fathom
