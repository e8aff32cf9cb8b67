// Pages of docs/ and examples/ that the program has written, and the links of all pages.
#include <filesystem>
#include <regex>

#include "checks.h"
#include "test_files.h"

namespace fathom::test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> shipped_pages() {
  std::vector<fs::path> pages;
  for (const char* folder : {"docs", "examples", "bench", "kernels"}) {
    for (const auto& entry : fs::recursive_directory_iterator(source_dir() / folder)) {
      if (entry.path().extension() == ".md") pages.push_back(entry.path());
    }
  }
  for (const auto& entry : fs::directory_iterator(source_dir()))
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  return pages;
}

TEST(ShippedPages, LinksLeadToFiles) {
  const std::regex link(R"(\]\(([^)#: …]+)(#[^)]*)?\))");
  size_t links = 0;
  for (const fs::path& page : shipped_pages()) {
    const std::string text = read_file(page);
    for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at, ++links) {
      const std::string target = (*at)[1];
      EXPECT_TRUE(fs::exists(page.parent_path() / target)) << page << " links to " << target;
    }
  }
  EXPECT_GT(links, 100U);
}

// "| [train.md](train.md) | `fathom story TRACE --out DIR`: … |" of docs/stories/about.md.
TEST(ShippedPages, StoriesAreWhatTheirCommandsWrite) {
  const fs::path stories = source_dir() / "docs/stories";
  const std::string about = read_file(stories / "about.md");
  const std::regex row(R"(\| \[[^\]]+\]\(([^)]+)\) \| `fathom (story [^`]+) --out DIR`)");
  const TemporaryDirectory scratch;
  size_t rows = 0;
  for (std::sregex_iterator at(about.begin(), about.end(), row), end; at != end; ++at, ++rows) {
    const fs::path out = scratch.path() / std::to_string(rows);
    const CommandResult result =
        run_command("'" + fathom_binary() + "' " + (*at)[2].str() + " --out '" + out.string() + "'",
                    source_dir());
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    const std::string difference =
        compare_golden(stories / (*at)[1].str(), read_file(out / "story.md"));
    EXPECT_TRUE(difference.empty()) << difference;
  }
  EXPECT_GE(rows, 5U);
}

}  // namespace
}  // namespace fathom::test
