#include "base/output_directory.h"

#include <algorithm>
#include <optional>

#include "checks.h"
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

OutputPlace place_of(const fs::path& path) { return {path, {"analyze", "trace.json", ""}, false}; }

class OutputDirectoryTest : public ::testing::Test {
 protected:
  fs::path place() const { return temporary_.path(); }
  fs::path report() const { return place() / "report"; }

  void write_report(std::string_view name, std::string_view content) {
    Result<OutputDirectory> out = OutputDirectory::create(place_of(report()));
    ASSERT_TRUE(out.ok());
    OutputDirectory directory = out.take();
    ASSERT_TRUE(directory.write_file(name, content).ok());
    ASSERT_TRUE(directory.commit().ok());
  }

 private:
  test::TemporaryDirectory temporary_;
};

TEST_F(OutputDirectoryTest, AppearsOnlyWithTheCommit) {
  OutputDirectory out = OutputDirectory::create(place_of(report())).take();
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
    OutputDirectory out = OutputDirectory::create(place_of(report())).take();
    ASSERT_TRUE(out.write_file("a/b.csv", "1\n").ok());
    EXPECT_FALSE(listing(place()).empty());
  }
  EXPECT_TRUE(listing(place()).empty());
}

TEST_F(OutputDirectoryTest, AnEarlierReportStandsWithoutACommit) {
  write_report("a.csv", "old");
  const std::vector<std::string> before = listing(place());
  {
    OutputDirectory out = OutputDirectory::create(place_of(report())).take();
    ASSERT_TRUE(out.write_file("a.csv", "new").ok());
  }
  EXPECT_EQ(listing(place()), before);
  EXPECT_EQ(read_file(report() / "a.csv"), "old");
}

TEST_F(OutputDirectoryTest, ReplacesTheFilesOfAnEarlierReportAndNoOthers) {
  write_report("old/a.csv", "old");
  write_file(report() / "added by hand", "x");
  write_file(report() / "old" / "mine", "y");
  write_report("b.csv", "new");
  EXPECT_EQ(listing(report()), (std::vector<std::string>{".fathom-report", "added by hand", "b.csv",
                                                         "old", "old/mine"}));
  fs::remove(report() / "old/mine");
  write_report("old/a.csv", "again");
  write_report("b.csv", "new");
  EXPECT_FALSE(fs::exists(report() / "old")) << "a folder of ours that is empty goes";
  EXPECT_EQ(std::ranges::distance(fs::directory_iterator(place())), 1);
}

TEST_F(OutputDirectoryTest, KeepsWhatWasChangedUnderAnotherName) {
  write_report("a.csv", "old");
  for (const char* mine : {"my notes", "more notes"}) {
    write_file(report() / "a.csv", mine);
    OutputDirectory out = OutputDirectory::create(place_of(report())).take();
    ASSERT_TRUE(out.write_file("a.csv", "new").ok());
    const auto notes = out.commit();
    ASSERT_TRUE(notes.ok());
    EXPECT_EQ(notes.value().size(), 1u);
  }
  EXPECT_EQ(read_file(report() / "a.csv"), "new");
  EXPECT_EQ(read_file(report() / "a.csv.kept"), "my notes");
  EXPECT_EQ(read_file(report() / "a.csv.kept-2"), "more notes");
}

TEST_F(OutputDirectoryTest, FollowsNoLinkInAReport) {
  write_file(place() / "elsewhere" / "a.csv", "theirs");
  write_file(place() / "elsewhere" / "b.csv", "theirs");
  write_report("sub/a.csv", "old");
  fs::remove_all(report() / "sub");
  fs::create_directory_symlink(place() / "elsewhere", report() / "sub");
  fs::create_symlink(place() / "elsewhere/b.csv", report() / "b.csv");
  {
    OutputDirectory out = OutputDirectory::create(place_of(report())).take();
    ASSERT_TRUE(out.write_file("sub/a.csv", "new").ok());
    ASSERT_TRUE(out.write_file("b.csv", "new").ok());
    ASSERT_TRUE(out.commit().ok());
  }
  EXPECT_EQ(read_file(report() / "sub/a.csv"), "new");
  EXPECT_EQ(read_file(place() / "elsewhere/a.csv"), "theirs");
  EXPECT_EQ(read_file(place() / "elsewhere/b.csv"), "theirs");
  EXPECT_TRUE(fs::is_symlink(report() / "sub.kept"));
  EXPECT_TRUE(fs::is_symlink(report() / "b.csv.kept"));
}

// A failure in the middle of the moving takes back what was done. A mount cannot be relied on here;
// a folder without room for another name does as well.
TEST_F(OutputDirectoryTest, TakesBackWhatItDidWhereAStepFails) {
  write_report("a.csv", "old");
  write_file(report() / "z.csv", "mine");
  write_file(report() / "z.csv.kept", "x");
  for (int n = 2; n <= 1000; ++n) write_file(report() / ("z.csv.kept-" + std::to_string(n)), "x");
  const std::vector<std::string> before = listing(place());
  {
    OutputDirectory out = OutputDirectory::create(place_of(report())).take();
    for (const char* name : {"a.csv", "new/b.csv", "z.csv"})
      ASSERT_TRUE(out.write_file(name, "new").ok());
    EXPECT_FALSE(out.commit().ok());
  }
  EXPECT_EQ(listing(place()), before);
  EXPECT_EQ(read_file(report() / "a.csv"), "old");
  EXPECT_EQ(read_file(report() / "z.csv"), "mine");
  EXPECT_TRUE(verified_report(report()));
}

TEST_F(OutputDirectoryTest, RefusesAReportOfAnotherIdentity) {
  write_report("a.csv", "old");
  for (const ReportIdentity& other :
       {ReportIdentity{"diff", "trace.json", ""}, ReportIdentity{"analyze", "other.json", ""},
        ReportIdentity{"analyze", "trace.json", "--steps 1:2"}}) {
    OutputPlace place{report(), other, false};
    const Result<OutputDirectory> refused = OutputDirectory::create(place);
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.error().message.find("the analyze report of trace.json;"), std::string::npos)
        << refused.error().message;
    EXPECT_NE(refused.error().message.find(describe(other)), std::string::npos);
    place.force = true;
    EXPECT_TRUE(OutputDirectory::create(place).ok());
  }
  EXPECT_EQ(read_file(report() / "a.csv"), "old");
}

TEST_F(OutputDirectoryTest, AReportOfAnEarlierVersionIsNotDestroyed) {
  write_file(report() / ".fathom-report",
             "Made by fathom; the next report replaces this directory.\n");
  write_file(report() / "a.csv", "old");
  EXPECT_FALSE(OutputDirectory::create(place_of(report())).ok());
  OutputPlace place = place_of(report());
  place.force = true;
  OutputDirectory out = OutputDirectory::create(place).take();
  ASSERT_TRUE(out.write_file("a.csv", "new").ok());
  ASSERT_TRUE(out.commit().ok());
  EXPECT_EQ(read_file(report() / "a.csv.kept"), "old");
  EXPECT_FALSE(fs::exists(report() / ".fathom-report.kept"));
}

TEST_F(OutputDirectoryTest, AnEmptyDirectoryIsFineAndStaysTheSame) {
  fs::create_directory(report());
  fs::permissions(report(), fs::perms::owner_all);
  write_report("a.csv", "new");
  EXPECT_EQ(fs::status(report()).permissions(), fs::perms::owner_all);
  EXPECT_EQ(read_file(report() / "a.csv"), "new");
}

TEST_F(OutputDirectoryTest, AFileThatDiffersIsNoVerifiedReport) {
  write_report("sub/a.csv", "content");
  ASSERT_TRUE(verified_report(report()));
  EXPECT_EQ(verified_report(report())->files.count("sub/a.csv"), 1u);
  for (const char* other : {"", "contenT", "content ", "conten"}) {
    write_file(report() / "sub/a.csv", other);
    EXPECT_FALSE(verified_report(report())) << other;
  }
  fs::remove(report() / "sub/a.csv");
  EXPECT_FALSE(verified_report(report()));
}

TEST_F(OutputDirectoryTest, RefusesWhatIsNoReport) {
  write_file(place() / "thesis" / "chapter1.txt", "years of work");
  write_file(place() / "file", "x");
  fs::create_symlink(place() / "nowhere", place() / "dangling");
  const std::vector<std::string> before = listing(place());
  for (const char* name : {"thesis", "file", "dangling"}) {
    const Result<OutputDirectory> out = OutputDirectory::create(place_of(place() / name));
    ASSERT_FALSE(out.ok()) << name;
    EXPECT_NE(out.error().message.find("--out"), std::string::npos) << "it says what to try";
  }
  EXPECT_EQ(listing(place()), before);
}

TEST_F(OutputDirectoryTest, ATrailingSlashNamesTheSamePlace) {
  {
    OutputDirectory out = OutputDirectory::create(place_of(report() / "")).take();
    ASSERT_TRUE(out.write_file("a.csv", "1").ok());
    ASSERT_TRUE(out.commit().ok());
  }
  EXPECT_EQ(read_file(report() / "a.csv"), "1");
  EXPECT_EQ(std::ranges::distance(fs::directory_iterator(place())), 1);
}

TEST_F(OutputDirectoryTest, MakesTheDirectoriesAboveIt) {
  OutputDirectory out = OutputDirectory::create(place_of(place() / "x/y/report")).take();
  ASSERT_TRUE(out.commit().ok());
  EXPECT_TRUE(fs::is_directory(place() / "x/y/report"));
}

TEST_F(OutputDirectoryTest, FailsBelowAFile) {
  write_file(place() / "file", "x");
  EXPECT_FALSE(OutputDirectory::create(place_of(place() / "file" / "report")).ok());
  EXPECT_EQ(listing(place()), std::vector<std::string>{"file"});
}

TEST_F(OutputDirectoryTest, AFailedFileFailsAndLeavesNothing) {
  {
    OutputDirectory out = OutputDirectory::create(place_of(report())).take();
    ASSERT_TRUE(out.write_file("a", "a file").ok());
    EXPECT_FALSE(out.write_file("a/b.csv", "below a file").ok());
    ASSERT_TRUE(out.write_file("d/e", "").ok());
    EXPECT_FALSE(out.write_file("d", "over a directory").ok());
  }
  EXPECT_TRUE(listing(place()).empty());
}

TEST_F(OutputDirectoryTest, RemovesWhatDeadRunsLeftAndNothingLikeIt) {
  const std::string name = ".fathom-tmp-0123456789abcdef";
  // Without the lock file, with other words in it, or as a link, it is somebody's folder.
  write_file(place() / name / "new/a.csv", "theirs");
  write_file(place() / ".fathom-tmp-0123456789abcde0/lock", "other words");
  write_file(place() / "report.tmp-1/a.csv", "theirs");
  fs::create_directory_symlink(place() / name, place() / ".fathom-tmp-0123456789abcde1");
  const std::vector<std::string> before = listing(place());
  {
    // A live one is left alone; a copy of it, with its words but without its lock, is dead.
    const OutputDirectory live = OutputDirectory::create(place_of(place() / "live")).take();
    const fs::path staging = live.staged("").parent_path().parent_path();
    write_report("a.csv", "1");
    EXPECT_TRUE(fs::exists(staging / "lock"));
    const fs::path aside = place() / "aside";
    fs::copy(staging, aside, fs::copy_options::recursive);
    fs::rename(staging, place() / "moved");
    fs::rename(aside, staging);
    write_report("a.csv", "1");
    EXPECT_FALSE(fs::exists(staging));
    fs::remove_all(place() / "moved");
  }
  fs::remove_all(report());
  EXPECT_EQ(listing(place()), before);
}

TEST_F(OutputDirectoryTest, MovesWithoutLosingWhatItHolds) {
  std::optional<OutputDirectory> first(OutputDirectory::create(place_of(report())).take());
  ASSERT_TRUE(first->write_file("a", "1").ok());
  OutputDirectory second = std::move(*first);
  first.reset();
  ASSERT_TRUE(second.commit().ok());
  EXPECT_EQ(read_file(report() / "a"), "1");
}

// The place is the directory that the link names, as for any program; links inside are not
// followed.
TEST_F(OutputDirectoryTest, APlaceMayBeNamedThroughLinksAndDots) {
  write_report("a.csv", "old");
  fs::create_directory_symlink(report(), place() / "link");
  for (const fs::path& name :
       {place() / "link", report() / ".", report() / "x" / "..", place() / "link" / ""}) {
    OutputDirectory out = OutputDirectory::create(place_of(name)).take();
    ASSERT_TRUE(out.write_file("a.csv", name.string()).ok());
    ASSERT_TRUE(out.commit().ok());
    EXPECT_EQ(read_file(report() / "a.csv"), name.string());
    EXPECT_TRUE(fs::is_symlink(place() / "link"));
  }
}

}  // namespace
}  // namespace fathom
