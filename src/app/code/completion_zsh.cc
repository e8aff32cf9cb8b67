#include <fmt/format.h>

#include "app/code/completion_scripts.h"
#include "app/command_tree.h"

namespace fathom {
namespace {

constexpr std::string_view kZshScript =
    R"(#compdef @program@
# zsh completion for @program@, printed by: @program@ completion zsh

@functions@# Found in fpath this file is the function itself; read with source it only defines it.
if [[ $funcstack[1] == _@program@ ]]; then
  _@program@ "$@"
else
  compdef _@program@ @program@
fi
)";

constexpr std::string_view kFunction =
    R"(@function@() {
  local curcontext=$curcontext state state_descr line ret=1
  local -A opt_args
  _arguments -C -s -S \
@specifications@    && ret=0
@commands@  return ret
}

)";

constexpr std::string_view kCommands =
    R"(  case $state in
    command)
      local -a commands=(
@descriptions@      )
      _describe -t commands command commands && ret=0
      ;;
    arguments)
      case $line[1] in
@calls@      esac
      ;;
  esac
)";

std::string function_name(const CLI::App& program, const Command& command) {
  return "_" + program.get_name() + replace_all(command.path, " ", "_");
}

// Backslashes before what ends the part of a specification.
std::string escape(std::string_view text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || special.find(c) != std::string_view::npos) out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string action(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNone:
    case Value::Kind::kText:
      return " ";  // shows what is expected, offers nothing
    case Value::Kind::kFiles:
      return "_files";
    case Value::Kind::kDirectories:
      return "_files -/";
    case Value::Kind::kWords:
      break;
  }
  return fmt::format("({})", fmt::join(value.words, " "));
}

std::string specification_line(std::string_view text) {
  return "    " + shell_quoted(text) + " \\\n";
}

// One for each name; the others in front, since the same option is not offered twice.
std::string option_specifications(const CLI::Option& option) {
  const std::vector<std::string> names = option_names(option);
  const Value value = option_value(option);
  std::string out;
  for (const std::string& name : names) {
    std::string text = names.size() > 1 ? fmt::format("({})", fmt::join(names, " ")) : "";
    text += name;
    if (value.kind != Value::Kind::kNone) text += name.starts_with("--") ? "=" : "+";
    text += "[" + escape(option.get_description(), "[]") + "]";
    if (value.kind != Value::Kind::kNone) {
      text += fmt::format(":{}:{}", escape(option.get_type_name(), ":"), action(value));
    }
    out += specification_line(text);
  }
  return out;
}

std::string positional_specifications(const CLI::App& app) {
  std::string out;
  int place = 0;
  for (const CLI::Option* option : visible_positionals(app)) {
    const bool many = option->get_items_expected_max() > 1;
    out += specification_line(fmt::format("{}:{}:{}", many ? "*" : std::to_string(++place),
                                          escape(option->get_name(true), ":"),
                                          action(positional_value(*option))));
  }
  return out;
}

std::string command_cases(const CLI::App& program, const Command& parent) {
  std::string descriptions, calls;
  for (const Command& command : all_commands(program)) {
    if (command.app->get_parent() != parent.app) continue;
    const CLI::App& app = *command.app;
    descriptions +=
        "        " +
        shell_quoted(escape(app.get_name(), ":") + ":" + escape(app.get_description(), "")) + "\n";
    std::vector<std::string> names = app.get_aliases();
    names.insert(names.begin(), app.get_name());
    calls += fmt::format("        {}) {} && ret=0 ;;\n", fmt::join(names, " | "),
                         function_name(program, command));
  }
  return fill_script(kCommands, {{"descriptions", descriptions}, {"calls", calls}});
}

}  // namespace

std::string zsh_completion(const CLI::App& app) {
  std::string functions;
  for (const Command& command : all_commands(app)) {
    std::string specifications, commands;
    for (const CLI::Option* option : visible_options(*command.app)) {
      specifications += option_specifications(*option);
    }
    if (visible_commands(*command.app).empty()) {
      specifications += positional_specifications(*command.app);
    } else {
      specifications +=
          specification_line("1: :->command") + specification_line("*:: :->arguments");
      commands = command_cases(app, command);
    }
    functions += fill_script(kFunction, {{"function", function_name(app, command)},
                                         {"specifications", specifications},
                                         {"commands", commands}});
  }
  return fill_script(kZshScript, {{"functions", functions}, {"program", app.get_name()}});
}

}  // namespace fathom
