#include "base/output_directory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "test_files.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using test::read_file;
using test::write_file;

// Files and directories below a place, by their names relative to it.
std::vector<std::string> listing(const fs::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    names.push_back(entry.path().lexically_relative(directory).string());
  }
  std::ranges::sort(names);
  return names;
}

class OutputDirectoryTest : public ::testing::Test {
 protected:
  fs::path place() const { return temporary_.path(); }
  fs::path report() const { return place() / "report"; }

  void write_report(std::string_view name, std::string_view content) {
    Result<OutputDirectory> out = OutputDirectory::create(report());
    ASSERT_TRUE(out.ok());
    OutputDirectory directory = out.take();
    ASSERT_TRUE(directory.write_file(name, content).ok());
    ASSERT_TRUE(directory.commit().ok());
  }

 private:
  test::TemporaryDirectory temporary_;
};

TEST_F(OutputDirectoryTest, AppearsOnlyWithTheCommit) {
  OutputDirectory out = OutputDirectory::create(report()).take();
  ASSERT_TRUE(out.write_file("a.csv", "1\n").ok());
  ASSERT_TRUE(out.write_file("deep/er/b.csv", std::string(1 << 20, 'b')).ok());
  EXPECT_FALSE(fs::exists(report()));
  ASSERT_TRUE(out.commit().ok());
  EXPECT_EQ(read_file(report() / "a.csv"), "1\n");
  EXPECT_EQ(read_file(report() / "deep/er/b.csv"), std::string(1 << 20, 'b'));
  EXPECT_EQ(listing(place()).front(), "report");
  EXPECT_EQ(std::ranges::distance(fs::directory_iterator(place())), 1) << "staging is gone";
}

TEST_F(OutputDirectoryTest, NothingRemainsWithoutACommit) {
  {
    OutputDirectory out = OutputDirectory::create(report()).take();
    ASSERT_TRUE(out.write_file("a/b.csv", "1\n").ok());
    EXPECT_FALSE(listing(place()).empty());
  }
  EXPECT_TRUE(listing(place()).empty());
}

TEST_F(OutputDirectoryTest, AnEarlierReportStandsWithoutACommit) {
  write_report("a.csv", "old");
  const std::vector<std::string> before = listing(place());
  {
    OutputDirectory out = OutputDirectory::create(report()).take();
    ASSERT_TRUE(out.write_file("a.csv", "new").ok());
  }
  EXPECT_EQ(listing(place()), before);
  EXPECT_EQ(read_file(report() / "a.csv"), "old");
}

TEST_F(OutputDirectoryTest, ReplacesAnEarlierReportAsAWhole) {
  write_report("old/a.csv", "old");
  write_file(report() / "added by hand", "x");
  write_report("b.csv", "new");
  EXPECT_EQ(read_file(report() / "b.csv"), "new");
  EXPECT_FALSE(fs::exists(report() / "old"));
  EXPECT_FALSE(fs::exists(report() / "added by hand"));
  EXPECT_EQ(std::ranges::distance(fs::directory_iterator(place())), 1);
}

TEST_F(OutputDirectoryTest, RefusesWhatIsNoReport) {
  write_file(place() / "thesis" / "chapter1.txt", "years of work");
  write_file(place() / "file", "x");
  fs::create_directory(place() / "empty");
  fs::create_symlink(place() / "nowhere", place() / "dangling");
  const std::vector<std::string> before = listing(place());
  for (const char* name : {"thesis", "file", "empty", "dangling"}) {
    const Result<OutputDirectory> out = OutputDirectory::create(place() / name);
    ASSERT_FALSE(out.ok()) << name;
    EXPECT_NE(out.error().message.find("--out"), std::string::npos) << "it says what to try";
  }
  EXPECT_EQ(listing(place()), before);
}

TEST_F(OutputDirectoryTest, ATrailingSlashNamesTheSamePlace) {
  {
    OutputDirectory out = OutputDirectory::create(report() / "").take();
    ASSERT_TRUE(out.write_file("a.csv", "1").ok());
    ASSERT_TRUE(out.commit().ok());
  }
  EXPECT_EQ(read_file(report() / "a.csv"), "1");
  EXPECT_EQ(std::ranges::distance(fs::directory_iterator(place())), 1);
}

TEST_F(OutputDirectoryTest, MakesTheDirectoriesAboveIt) {
  OutputDirectory out = OutputDirectory::create(place() / "x/y/report").take();
  ASSERT_TRUE(out.commit().ok());
  EXPECT_TRUE(fs::is_directory(place() / "x/y/report"));
}

TEST_F(OutputDirectoryTest, FailsBelowAFile) {
  write_file(place() / "file", "x");
  EXPECT_FALSE(OutputDirectory::create(place() / "file" / "report").ok());
  EXPECT_EQ(listing(place()), std::vector<std::string>{"file"});
}

TEST_F(OutputDirectoryTest, AFailedFileFailsAndLeavesNothing) {
  {
    OutputDirectory out = OutputDirectory::create(report()).take();
    ASSERT_TRUE(out.write_file("a", "a file").ok());
    EXPECT_FALSE(out.write_file("a/b.csv", "below a file").ok());
    ASSERT_TRUE(out.write_file("d/e", "").ok());
    EXPECT_FALSE(out.write_file("d", "over a directory").ok());
  }
  EXPECT_TRUE(listing(place()).empty());
}

TEST_F(OutputDirectoryTest, LeavesTheStagingDirectoryOfAnotherRunAlone) {
  const fs::path theirs = report().string() + ".tmp-" + std::to_string(getpid());
  write_file(theirs / "a.csv", "theirs");
  EXPECT_FALSE(OutputDirectory::create(report()).ok());
  EXPECT_EQ(read_file(theirs / "a.csv"), "theirs");
}

TEST_F(OutputDirectoryTest, MovesWithoutLosingWhatItHolds) {
  std::optional<OutputDirectory> first(OutputDirectory::create(report()).take());
  ASSERT_TRUE(first->write_file("a", "1").ok());
  OutputDirectory second = std::move(*first);
  first.reset();
  ASSERT_TRUE(second.commit().ok());
  EXPECT_EQ(read_file(report() / "a"), "1");
}

TEST_F(OutputDirectoryTest, ALinkToAReportIsReplacedAndNotFollowed) {
  write_report("a.csv", "pointed at");
  fs::create_directory_symlink(report(), place() / "link");
  OutputDirectory out = OutputDirectory::create(place() / "link").take();
  ASSERT_TRUE(out.write_file("a.csv", "new").ok());
  ASSERT_TRUE(out.commit().ok());
  EXPECT_EQ(read_file(place() / "link" / "a.csv"), "new");
  EXPECT_EQ(read_file(report() / "a.csv"), "pointed at");
}

}  // namespace
}  // namespace fathom
