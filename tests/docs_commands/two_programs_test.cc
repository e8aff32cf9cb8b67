#include <filesystem>
#include <string>

#include "checks.h"
#include "test_files.h"

// fathom hands over to fathom-code what reads source code (app/code_half.h).
namespace fathom::test {
namespace {

namespace fs = std::filesystem;

TEST(TwoPrograms, ShowTheSameCommands) {
  const std::string here = "'" + fathom_binary(), help = "' --help";
  const CommandResult one = run_command(here + help, source_dir());
  const CommandResult whole = run_command(here + "-code" + help, source_dir());
  EXPECT_EQ(one.exit_code, 0);
  EXPECT_NE(one.output.find("\n  scan "), std::string::npos) << one.output;
  EXPECT_EQ(one.output, whole.output);
}

TEST(TwoPrograms, WithoutTheOtherTracesAreReadAndTheLackIsTold) {
  const TemporaryDirectory directory;
  const fs::path alone = directory.path() / "fathom";
  fs::copy_file(fathom_binary(), alone);
  const std::string trace = " '" + source_dir().string() + "/examples/ddp-rank0-h200.json.gz'";
  EXPECT_EQ(run_command(alone.string() + " analyze --json -q" + trace, directory.path()).exit_code,
            0);
  for (const std::string& words :
       {std::string(" scan ."), " analyze --repo ." + trace, " analyze --together" + trace,
        std::string(" man-page"), std::string(" --color never scan ."),
        std::string(" bench -- true"), std::string(" serve --help")}) {
    const CommandResult result = run_command(alone.string() + words, directory.path());
    EXPECT_EQ(result.exit_code, 1) << words;
    EXPECT_NE(result.errors.find("fathom-code: No such file"), std::string::npos) << result.errors;
  }
}

}  // namespace
}  // namespace fathom::test
