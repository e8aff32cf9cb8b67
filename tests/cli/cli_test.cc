#include <algorithm>
#include <filesystem>

#include "checks.h"
#include "cli/case_file.h"
#include "test_files.h"

namespace fathom::test {
namespace {

namespace fs = std::filesystem;
using Kind = CaseLine::Kind;

std::vector<fs::path> case_paths() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(source_dir() / "tests/cli/cases")) {
    if (entry.path().extension() == ".test") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return paths;
}

// The example traces are there by name; a report beside one stays in the temporary directory.
void put_inputs(const CaseFile& file, const fs::path& directory) {
  fs::create_directory(directory / "examples");
  for (const fs::path& trace : example_traces()) {
    fs::create_symlink(trace, directory / "examples" / trace.filename());
  }
  for (const char* folder :
       {"examples/tiny-engine", "examples/captures", "examples/record", "examples/run"})
    fs::create_directory_symlink(test::source_dir() / folder, directory / folder);
  for (const CaseInput& input : case_inputs(file.lines)) {
    write_file(directory / input.name, input.content);
  }
}

// The same on every machine: no colours or language from the environment.
CommandResult run_in_case(const std::string& command, const fs::path& directory) {
  const std::string binaries = fs::path(test::fathom_binary()).parent_path().string();
  return run_command(
      "unset NO_COLOR CLICOLOR CLICOLOR_FORCE COLUMNS; export LC_ALL=C TERM=xterm PATH='" +
          binaries + "':\"$PATH\"\n" + command + "\n",
      directory);
}

std::string compare(const CaseCommand& command, const CommandResult& result) {
  const Expectation& expected = command.expected;
  std::string wrong;
  const std::string output = first_difference(expected.output, visible_lines(result.output)),
                    errors = first_difference(expected.errors, visible_lines(result.errors));
  if (!output.empty()) wrong += "\nstandard output" + output;
  if (!errors.empty()) wrong += "\nstandard error" + errors;
  if (expected.exit_code != result.exit_code) {
    wrong += "\nexit code\n  expected: " + std::to_string(expected.exit_code) +
             "\n  now:      " + std::to_string(result.exit_code);
  }
  return wrong;
}

// The case with what the commands printed now in place of what was expected.
std::string accepted_text(const CaseFile& file, const std::vector<CommandResult>& results) {
  std::vector<CaseLine> lines;
  const std::vector<CaseCommand> commands = case_commands(file.lines);
  size_t next = 0;
  for (const CaseLine& line : file.lines) {
    if (line.kind == Kind::kOutput || line.kind == Kind::kError || line.kind == Kind::kExit)
      continue;
    lines.push_back(line);
    if (line.kind != Kind::kCommand) continue;
    const Expectation& before = commands[next].expected;
    const CommandResult& now = results[next++];
    for (CaseLine& l : expect_lines(Kind::kOutput, before.output, visible_lines(now.output)))
      lines.push_back(std::move(l));
    for (CaseLine& l : expect_lines(Kind::kError, before.errors, visible_lines(now.errors)))
      lines.push_back(std::move(l));
    if (now.exit_code != 0) lines.push_back({Kind::kExit, false, std::to_string(now.exit_code), 0});
  }
  return print_case(lines);
}

class CliCase : public ::testing::TestWithParam<fs::path> {};

TEST_P(CliCase, Prints) {
  const std::string text = read_file(GetParam());
  const CaseFile file = parse_case(text);
  ASSERT_EQ(file.error, "") << GetParam().string();
  EXPECT_EQ(print_case(file.lines), text) << "accepting would change more than expectations";

  const TemporaryDirectory directory;
  put_inputs(file, directory.path());
  for (const CaseLine& line : file.lines) {
    if (line.kind == Kind::kNeeds && run_in_case(line.text, directory.path()).exit_code != 0)
      GTEST_SKIP() << "skipped: this machine fails `" << line.text << "`";
  }
  std::vector<CommandResult> results;
  for (const CaseCommand& command : case_commands(file.lines)) {
    results.push_back(run_in_case(command.text, directory.path()));
    if (accept_goldens) continue;
    const std::string wrong = compare(command, results.back());
    if (!wrong.empty()) {
      ADD_FAILURE() << GetParam().string() << ":" << command.number << "\n$ " << command.text
                    << wrong;
    }
  }
  if (accept_goldens) write_file(GetParam(), accepted_text(file, results));
}

INSTANTIATE_TEST_SUITE_P(Cli, CliCase, ::testing::ValuesIn(case_paths()),
                         [](const auto& tested) { return tested.param.stem().string(); });

}  // namespace
}  // namespace fathom::test
