#include "app/code_half.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
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
      "cannot run {}: {}; it is the part of fathom that reads code: copy both into one folder",
      program, std::strerror(errno)));
  return ExitCode::kFailed;
}

bool is_handed_over(const std::vector<std::string>& arguments) {
  size_t command = 1;
  while (command < arguments.size() && arguments[command].starts_with("--color"))
    command += arguments[command] == "--color" ? 2 : 1;
  if (command >= arguments.size()) return false;
  const auto is_it = [&](const CommandWords& words) { return arguments[command] == words.name; };
  return std::ranges::any_of(kCodeCommands, is_it) || std::ranges::any_of(kDocsCommands, is_it);
}

void add_handed_over(CLI::App& app, std::span<const CommandWords> commands) {
  for (const CommandWords& words : commands) {
    CLI::App* command = app.add_subcommand(words.name, words.text);
    if (!words.is_shown) command->group("");
  }
}

}  // namespace fathom
