#include "checks.h"
#include "test_files.h"

// tools/python/fathom.py, with each python3 that is here: one of them may have pandas.
namespace fathom::test {
namespace {

class PythonModule : public testing::TestWithParam<const char*> {};

TEST_P(PythonModule, GivesTheTablesOfATrace) {
  const std::string python = GetParam();
  if (run_command("command -v " + python, source_dir()).exit_code != 0)
    GTEST_SKIP() << "skipped: no " << python;
  const CommandResult run =
      run_command("FATHOM_PROGRAM=" + fathom_binary() + " PYTHONDONTWRITEBYTECODE=1 " + python +
                      " tests/python/module_check.py " + source_dir().string(),
                  source_dir());
  EXPECT_EQ(run.exit_code, 0) << run.output << run.errors;
}

INSTANTIATE_TEST_SUITE_P(All, PythonModule, testing::Values("python3", "/usr/bin/python3"),
                         [](const auto& python) {
                           return std::string(python.param).starts_with('/') ? "OfTheSystem"
                                                                             : "InPath";
                         });

}  // namespace
}  // namespace fathom::test
