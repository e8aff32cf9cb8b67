#include <memory>

#include "app/code/code_commands.h"
#include "app/code/completion.h"
#include "app/code/man_page.h"
#include "app/command_tree.h"
#include "app/commands.h"
#include "app/option_rules.h"
#include "app/usage_error.h"

namespace fathom {
namespace {

constexpr const char* kInstall = R"(Try it in this shell:
  source <(fathom completion bash)
  source <(fathom completion zsh)
  fathom completion fish | source

Keep it:
  fathom completion bash > ~/.local/share/bash-completion/completions/fathom
  fathom completion zsh > DIRECTORY/_fathom        a directory of $fpath
  fathom completion fish > ~/.config/fish/completions/fathom.fish)";

ExitCode print(const std::string& text) {
  const Status printed = print_output(text);
  if (printed.ok()) return ExitCode::kOk;
  complain(printed.error().message);
  return ExitCode::kFailed;
}

ExitCode print_help(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  std::string name = app.get_name();
  for (const std::string& word : words) {
    const std::vector<const CLI::App*> below =
        command->get_subcommands([&](const CLI::App* known) { return known->check_name(word); });
    if (below.empty()) {
      complain(no_such_command(*command, word));
      std::fputs(kTryHelp, stderr);
      return ExitCode::kUsage;
    }
    command = below.front();
    name += " " + word;
  }
  // Not help(), which follows the commands that were parsed: this one.
  return print(command->get_formatter()->make_help(command, name, CLI::AppFormatMode::Normal));
}

// `fathom help replay pack` as `fathom replay pack --help`.
void add_help_command(CLI::App& app, ExitCode& code) {
  CLI::App* command = app.add_subcommand(kHelpCommand.name, kHelpCommand.text);
  command->footer("Examples:\n  fathom help diff\n  fathom help replay pack");
  std::vector<std::string> names;
  for (const Command& known : all_commands(app)) {
    if (!known.path.empty()) names.push_back(known.app->get_name());
  }
  auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("COMMAND", *words, "The command, such as analyze or replay pack")
      ->check(one_of(names))
      ->option_text("...");
  command->callback([&app, words, &code] { code = print_help(app, *words); });
}

}  // namespace

void add_docs_commands(CLI::App& app, ExitCode& code) {
  CLI::App* command = app.add_subcommand(kCompletionCommand.name, kCompletionCommand.text);
  command->footer(kInstall);
  auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "The shell that reads the script")
      ->required()
      ->check(one_of(completion_shells()));
  command->callback([&app, shell, &code] { code = print(completion(app, *shell)); });

  add_help_command(app, code);

  // For packagers; a reader wants `man fathom`.
  app.add_subcommand(kManPageCommand.name, kManPageCommand.text)
      ->group("")
      ->callback([&app, &code] { code = print(man_page(app, FATHOM_VERSION)); });
}

}  // namespace fathom
