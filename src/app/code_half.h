#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/terminal.h"
#include "session/known_code.h"

// Not its header: main() needs none of it, and is compiled last and alone.
namespace CLI {
class App;
}

namespace fathom {

struct TogetherArguments;

// What a program reports to the shell. As diff(1) has it, `fathom diff` says 1 of a difference that
// is too large, and 2 where it could not tell.
enum class ExitCode { kOk = 0, kFailed = 1, kTooLarge = 1, kUsage = 2, kTrouble = 2 };

// The half of the program that reads source code and runs experiments, with other commands that a
// first report needs nothing of. `fathom` is built without it, so that this report does not wait
// for its compilation; it hands over to `fathom-code`, which has both halves and lies beside it.
// Nobody but the builder sees that there are two.
struct CodeHalf {
  void (*add_commands)(CLI::App& app, const Terminal& terminal, ExitCode& code) = nullptr;
  void (*add_docs_commands)(CLI::App& app, ExitCode& code) = nullptr;
  CodeReader read = nullptr;
  Result<bool> (*together)(const TogetherArguments&, const Terminal&) = nullptr;
  std::vector<std::string> arguments = {};  // the program's own

  bool is_here() const { return add_commands != nullptr; }
};

struct CommandWords {
  const char* name;
  const char* text;
  bool is_shown = true;
};
inline constexpr CommandWords kConvertCommand = {"convert",
                                                 "Write a capture or trace as JSON for Perfetto"};
inline constexpr CommandWords kTimelineCommand = {
    "timeline", "Show a trace's timeline in the terminal, with keys to zoom"};
inline constexpr CommandWords kScanCommand = {"scan",
                                              "Find kernels, launchers and options in source code"};
inline constexpr CommandWords kPlanCommand = {
    "plan", "Plan measurements for a goal: what to track, experiments, expected numbers"};
inline constexpr CommandWords kRunCommand = {
    "run", "Run the experiments of a plan and compare the results with its expectations"};
inline constexpr CommandWords kBenchCommand = {
    "bench", "Time commands against each other, with GPU time if there is a GPU"};
inline constexpr CommandWords kAblateCommand = {
    "ablate", "Build, check, time and count variants of a program; write the ablation table"};
inline constexpr CommandWords kServeCommand = {
    "serve", "Show reports in a browser, on this machine only; follow a trace while it is read"};
inline constexpr CommandWords kExportCommand = {
    "export", "Write a trace's tables as Parquet or CSV: events, kernels, ops, gaps, findings"};
inline constexpr CommandWords kQueryCommand = {"query", "Query a trace or an export in SQL"};
inline constexpr CommandWords kFleetCommand = {
    "fleet", "Export the traces of many ranks or machines, and report on all of them"};
inline constexpr CommandWords kMcpCommand = {
    "mcp", "Answer an agent's questions about traces (Model Context Protocol on stdio)"};
inline constexpr CommandWords kSkillCommand = {"skill",
                                               "Print instructions for agents that use fathom"};
// In the order in which --help shows them.
inline constexpr CommandWords kCodeCommands[] = {
    kConvertCommand, kTimelineCommand, kScanCommand,  kPlanCommand,   kRunCommand,
    kAblateCommand,  kBenchCommand,    kServeCommand, kExportCommand, kQueryCommand,
    kFleetCommand,   kMcpCommand,      kSkillCommand};

// These tell of all commands, which only the whole program knows.
inline constexpr CommandWords kCompletionCommand = {"completion",
                                                    "Print a completion script for the shell"};
inline constexpr CommandWords kHelpCommand = {"help", "Print the help of a command"};
inline constexpr CommandWords kManPageCommand = {"man-page", "Print the manual page in roff",
                                                 false};
inline constexpr CommandWords kDocsCommands[] = {kCompletionCommand, kHelpCommand, kManPageCommand};

// Goes on as fathom-code, with the same arguments. Returns only where that cannot be started.
ExitCode hand_over(const CodeHalf& half);
// The command is the other program's, whatever follows it. Not left to CLI11, which takes "--" for
// its own.
bool is_handed_over(const std::vector<std::string>& arguments);
// For --help and for what resembles them.
void add_handed_over(CLI::App& app, std::span<const CommandWords> commands);

}  // namespace fathom
