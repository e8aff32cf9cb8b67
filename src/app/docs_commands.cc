#include <memory>

#include "app/commands.h"
#include "app/completion.h"
#include "app/man_page.h"

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

}  // namespace

void add_docs_commands(CLI::App& app, ExitCode& code) {
  CLI::App* command = app.add_subcommand("completion", "Print a completion script for the shell");
  command->footer(kInstall);
  auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "The shell that reads the script")
      ->required()
      ->check(CLI::IsMember(completion_shells()));
  command->callback([&app, shell, &code] { code = print(completion(app, *shell)); });

  // For packagers; a reader wants `man fathom`.
  app.add_subcommand("man-page", "Print the manual page in roff")
      ->group("")
      ->callback([&app, &code] { code = print(man_page(app, FATHOM_VERSION)); });
}

}  // namespace fathom
