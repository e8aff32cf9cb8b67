#include "app/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>

#include "app/build_info.h"
#include "app/commands.h"
#include "app/enough_stack.h"
#include "app/help_formatter.h"
#include "app/option_rules.h"
#include "app/sudden_end.h"
#include "app/usage_error.h"
#include "base/screen_text.h"
#include "base/utf8.h"

namespace fathom {

namespace {

// A path of thousands of characters, by its beginning and its end: what went wrong stands behind it
// and must not be pages away.
std::string with_short_words(std::string_view text) {
  constexpr size_t kLongest = 400, kKept = 150;
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size() - 1) + 1;
    const std::string_view word = text.substr(at, end - at);
    at = end;
    if (word.size() <= kLongest) {
      out += word;
      continue;
    }
    size_t tail = word.size() - kKept;
    while (tail < word.size() && (static_cast<unsigned char>(word[tail]) & 0xc0) == 0x80) ++tail;
    (out += cut_to_bytes(word, kKept)) += word.substr(tail);
  }
  return out;
}

}  // namespace

// std::fputs and std::fwrite throughout: fmt::print throws where writing fails.
void complain(std::string_view message) {
  constexpr size_t kLongest = 4000;
  const std::string text = cut_to_bytes(with_short_words(screen_safe(message)), kLongest);
  std::fputs(fmt::format("fathom: {}\n", text).c_str(), stderr);
}

Status print_output(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) {
    return Nothing{};
  }
  if (errno == EPIPE) return Nothing{};  // the reader, such as head, has seen enough
  return Error{fmt::format("cannot write to standard output: {}", std::strerror(errno))};
}

namespace {

ExitCode print_or_complain(std::string_view text) {
  const Status printed = print_output(text);
  if (printed.ok()) return ExitCode::kOk;
  complain(printed.error().message);
  return ExitCode::kFailed;
}

// Help and version are answers; anything else is a mistake in the asking.
ExitCode answer(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_name() == "CallForVersion")
    return print_or_complain(std::string(error.what()) + "\n");
  if (error.get_exit_code() == 0 || wants_command(app, error)) return print_or_complain(app.help());
  complain(usage_error(app, error));
  std::fputs(kTryHelp, stderr);
  return ExitCode::kUsage;
}

int run(int argc, char** argv, const CodeHalf& half) {
  if (!half.is_here() && is_handed_over(half.arguments)) return static_cast<int>(hand_over(half));
  Terminal terminal = Terminal::detect();
  ExitCode code = ExitCode::kOk;
  CLI::App app("Fathom shows where a GPU program's time goes, why, and what to change.", "fathom");
  app.formatter(std::make_shared<HelpFormatter>(terminal.width));
  app.set_version_flag("-V,--version", std::string(version_text()),
                       "Print version, commit and compiler, and exit");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.require_subcommand(1);
  app.footer(
      "Try:\n  fathom analyze examples/llama-h200.json.gz\n  fathom help analyze\n\n"
      "Exit codes: 0 done, 1 failed, 2 usage error. diff has its own: fathom help diff.");
  add_analyze_command(app, terminal, code, half);
  add_record_command(app, terminal, code);
  add_platforms_command(app, terminal, code);
  add_story_command(app, terminal, code, half);
  add_diff_command(app, terminal, code);
  add_replay_commands(app, terminal, code);
  if (half.is_here()) half.add_commands(app, terminal, code);
  if (!half.is_here()) add_handed_over(app, kCodeCommands);
  add_doctor_command(app, terminal, code);
  if (half.is_here()) half.add_docs_commands(app, code);
  if (!half.is_here()) add_handed_over(app, kDocsCommands);
  add_common_rules(app, terminal);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {  // CLI11's way to say it; stops here
    return static_cast<int>(answer(app, error));
  }
  return static_cast<int>(code);
}

}  // namespace

int run_program(int argc, char** argv, CodeHalf half) {
  half.arguments.assign(argv, argv + argc);
  const bool is_diff = argc > 1 && std::string_view(argv[1]) == "diff";  // its 1 is a regression
  const int failed = static_cast<int>(is_diff ? ExitCode::kUsage : ExitCode::kFailed);
  prepare_for_sudden_end(failed);
  std::signal(SIGXFSZ, SIG_IGN);  // a file over the limit is a failed write, which we report
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe ends the output, not the report or the exit code
  hold_standard_streams();
  return run_with_enough_stack([&] { return run(argc, argv, half); }, failed);
}

}  // namespace fathom
