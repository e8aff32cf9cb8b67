// ./dev says how far a build is while it runs, not at its end.
#include "checks.h"
#include "test_files.h"

namespace fathom::test {
namespace {

TEST(BuildProgress, ALineIsShownBeforeTheNextIsThere) {
  const TemporaryDirectory place;
  // The second line is written only after the first has been shown.
  write_file(place.path() / "script",
             "eval \"$(sed -n '/^tenths() {/,/^}/p' \"$1\")\"\n"
             "mkfifo shown\n"
             "{ echo '@5/10@ half'; read -r _ <shown; echo '@10/10@ whole'; } | tenths |\n"
             "  { read -r line; echo \"$line\"; echo seen >shown; cat; }\n");
  const std::string dev = (source_dir() / "dev").string();
  const CommandResult result = run_command("timeout 10 bash script '" + dev + "'", place.path());
  EXPECT_EQ(result.exit_code, 0) << "nothing was shown while the build went on";
  EXPECT_EQ(result.output, "fathom: building, 50 % done\nfathom: building, 100 % done\n");
}

}  // namespace
}  // namespace fathom::test
