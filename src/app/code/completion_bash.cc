#include <fmt/format.h>

#include "app/code/completion_scripts.h"
#include "app/command_tree.h"

namespace fathom {
namespace {

constexpr std::string_view kScript =
    R"(# bash completion for @program@, printed by: @program@ completion bash
_@program@() {
  local current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}
  local path='' kind='' words='' only_values='' word
  COMPREPLY=()
  # Readline cuts --option=value into three words.
  if [[ $current == = ]]; then
    current=
  elif [[ $option == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for word in "${COMP_WORDS[@]:1:COMP_CWORD - 1}"; do
    [[ $word != -- ]] || only_values=1
    case "$path $word" in
@commands@    esac
  done
  case "$path $option" in
@values@    *)
      if [[ $current == -* && -z $only_values ]]; then
        kind=words
        case $path in
@options@        esac
      else
        case $path in
@positionals@        esac
      fi
      ;;
  esac
  case $kind in
    words) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current") ;;
    files) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    directories) mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
  esac
  # Quotes blanks and ends a directory with a slash. It fails where nothing is being completed.
  if [[ $kind == files || $kind == directories ]]; then
    compopt -o filenames 2>/dev/null
  fi
}
complete -F _@program@ @program@
)";

std::string assignments(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNone:
    case Value::Kind::kText:
      return "kind=text";
    case Value::Kind::kFiles:
      return "kind=files";
    case Value::Kind::kDirectories:
      return "kind=directories";
    case Value::Kind::kWords:
      break;
  }
  return fmt::format("kind=words words={}",
                     shell_quoted(fmt::format("{}", fmt::join(value.words, " "))));
}

// Where a command has commands, one of them comes next. Of several positionals the last stands for
// all: only that one may repeat.
Value next_value(const CLI::App& app) {
  Value value;
  for (const CLI::App* command : visible_commands(app)) {
    value.kind = Value::Kind::kWords;
    value.words.push_back(command->get_name());
  }
  const std::vector<const CLI::Option*> positionals = visible_positionals(app);
  if (!value.words.empty() || positionals.empty()) return value;
  return positional_value(*positionals.back());
}

std::string patterns(std::vector<std::string> texts) {
  for (std::string& text : texts) text = shell_quoted(text);
  return fmt::format("{}", fmt::join(texts, " | "));
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  std::string commands, values, options, positionals;
  for (const Command& command : all_commands(app)) {
    const std::string path = shell_quoted(command.path);
    if (!command.path.empty()) {
      commands += fmt::format("      {}) path={} ;;\n", patterns(command.spellings), path);
    }
    std::vector<std::string> names;
    for (const CLI::Option* option : visible_options(*command.app)) {
      std::vector<std::string> here;
      for (const std::string& name : option_names(*option)) {
        names.push_back(name);
        here.push_back(command.path + " " + name);
      }
      const Value value = option_value(*option);
      if (value.kind == Value::Kind::kNone) continue;
      values += fmt::format("    {}) {} ;;\n", patterns(here), assignments(value));
    }
    options += fmt::format("          {}) words={} ;;\n", path,
                           shell_quoted(fmt::format("{}", fmt::join(names, " "))));
    positionals +=
        fmt::format("          {}) {} ;;\n", path, assignments(next_value(*command.app)));
  }
  return fill_script(kScript, {{"commands", commands},
                               {"values", values},
                               {"options", options},
                               {"positionals", positionals},
                               {"program", app.get_name()}});
}

}  // namespace fathom
