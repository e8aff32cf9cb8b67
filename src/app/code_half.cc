#include "app/code_half.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "app/commands.h"

namespace fathom {

ExitCode hand_over(const CodeHalf& half) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string program = (self.parent_path() / "fathom-code").string();
  std::vector<char*> arguments;
  for (const std::string& argument : half.arguments)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  complain(fmt::format(
      "cannot run {}: {}; it is the part of fathom that reads code, and lies beside it: copy both",
      program, std::strerror(errno)));
  return ExitCode::kFailed;
}

void add_handed_over(CLI::App& app, std::span<const CommandWords> commands, ExitCode& code,
                     const CodeHalf& half) {
  for (const CommandWords& words : commands) {
    CLI::App* command = app.add_subcommand(words.name, words.text);
    if (!words.is_shown) command->group("");
    command->set_help_flag();
    command->prefix_command();
    command->callback([&code, &half] { code = hand_over(half); });
  }
}

}  // namespace fathom
