#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "app/commands.h"
#include "app/sudden_end.h"
#include "report/screen_text.h"

namespace fathom {

// std::fputs and std::fwrite throughout: fmt::print throws where writing fails.
void complain(std::string_view message) {
  std::fputs(fmt::format("fathom: {}\n", screen_safe(message)).c_str(), stderr);
}

Status print_output(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) {
    return Nothing{};
  }
  return Error{fmt::format("cannot write to standard output: {}", std::strerror(errno))};
}

namespace {

int run(int argc, char** argv) {
  // Where 1 means a regression, trouble is 2.
  const bool has_limit = std::any_of(
      argv, argv + argc, [](std::string_view word) { return word.starts_with("--fail-over"); });
  prepare_for_sudden_end(static_cast<int>(has_limit ? ExitCode::kUsage : ExitCode::kFailed));
  std::signal(SIGXFSZ, SIG_IGN);  // a file over the limit is a failed write, which we report
  const Terminal terminal = Terminal::detect();
  ExitCode code = ExitCode::kOk;
  CLI::App app("Fathom tells the execution story of a GPU workload.", "fathom");
  app.set_version_flag("--version", "fathom " FATHOM_VERSION);
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.require_subcommand(1);
  app.footer("Try:\n  fathom analyze examples/llama-h200.json.gz\n  fathom analyze --help");
  add_analyze_command(app, terminal, code);
  add_platforms_command(app, terminal, code);
  add_diff_command(app, terminal, code);
  add_replay_commands(app, terminal, code);
  add_scan_command(app, terminal, code);
  add_docs_commands(app, code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {                   // CLI11's way to say it; stops here
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    // CLI11 says "a subcommand is required" of a word that is none.
    const std::string first = argc > 1 ? argv[1] : "-";
    const bool is_command =
        !app.get_subcommands([&](CLI::App* c) { return c->check_name(first); }).empty();
    complain(first.starts_with('-') || is_command ? error.what()
                                                  : fmt::format("there is no command '{}'", first));
    std::fputs(kTryHelp, stderr);
    return static_cast<int>(ExitCode::kUsage);
  }
  return static_cast<int>(code);
}

}  // namespace
}  // namespace fathom

int main(int argc, char** argv) { return fathom::run(argc, argv); }
