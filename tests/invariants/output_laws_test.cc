// Whatever is planted in and around a report, and in whatever order reports are written over each
// other: nothing outside a report's own manifest is removed or changed. What is in the way of a new
// file is kept under another name.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <regex>
#include <set>

#include "base/output_directory.h"
#include "checks.h"
#include "test_files.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

// Path → what is there: a file's content, "-> TARGET" of a link, "/" of a folder.
using Snapshot = std::map<std::string, std::string>;

Snapshot snapshot(const fs::path& root) {
  Snapshot found;
  if (!fs::exists(root)) return found;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const std::string path = entry.path().lexically_relative(root).string();
    if (entry.is_symlink()) {
      found[path] = "-> " + fs::read_symlink(entry.path()).string();
    } else {
      found[path] = entry.is_directory() ? "/" : test::read_file(entry.path());
    }
  }
  return found;
}

// The name that something had before it was kept aside.
std::string before_kept(const std::string& path) {
  static const std::regex kKept(R"(\.kept(-\d+)?(?=/|$))");
  return std::regex_replace(path, kKept, "");
}

class OutputLaws {
 public:
  explicit OutputLaws(uint64_t seed) : random_(seed) {
    test::write_file(outside() / "a.csv", "theirs");
    test::write_file(outside() / "sub/a.csv", "theirs");
    around_ = snapshot(place_.path());
  }

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
      SCOPED_TRACE(fmt::format("step {}", i));
      roll(3) == 0 ? write_report() : plant();
      check();
    }
  }

 private:
  fs::path outside() const { return place_.path() / "outside"; }
  fs::path report() const { return place_.path() / "r"; }
  size_t roll(size_t sides) { return random_() % sides; }
  std::string any_path() {
    static const char* const kPaths[] = {
        "a.csv",          "b.csv",      "sub/a.csv",  "sub/b.csv", "sub/d/c", "sub",
        ".fathom-report", "a.csv.kept", "deep/e/f/g", "deep",      "mine"};
    return kPaths[roll(std::size(kPaths))];
  }

  // Something of the user's, told from everything else by its content.
  void plant() {
    const std::string path = any_path();
    const fs::path at = report() / path;
    std::error_code error;
    const bool is_below_a_link = [&] {
      for (fs::path above = at.parent_path(); above != report(); above = above.parent_path()) {
        if (fs::is_symlink(above) || (fs::exists(above) && !fs::is_directory(above))) return true;
      }
      return false;
    }();
    if (is_below_a_link) return;
    if (fs::exists(fs::symlink_status(at))) {
      if (fs::is_directory(fs::symlink_status(at)) || fs::is_symlink(at)) return;
      forget(path);  // the user overwrites or removes a file
      if (roll(3) == 0) return (void)fs::remove(at, error);
    }
    fs::create_directories(at.parent_path(), error);
    const std::string token = fmt::format("user's {}", ++planted_);
    switch (roll(3)) {
      case 0: {
        if (fs::exists(fs::symlink_status(at))) fs::remove(at);
        const fs::path to = outside() / (roll(2) == 0 ? "a.csv" : "sub");
        fs::create_symlink(to / "" / token / ".." / "..", at, error);
        users_[path].insert("-> " + fs::read_symlink(at).string());
        break;
      }
      case 1:
        if (!fs::exists(at) && fs::create_directory(at, error)) {
          test::write_file(at / "inside", token);
          users_[path + "/inside"].insert(token);
          break;
        }
        [[fallthrough]];
      default:
        test::write_file(at, token);
        users_[path].insert(token);
    }
  }

  void forget(const std::string& path) {
    const Snapshot now = snapshot(report());
    if (!now.contains(path)) return;
    // It may be one that was kept under this name.
    for (auto& [_, contents] : users_) contents.erase(now.at(path));
  }

  void write_report() {
    static const char* const kSpellings[] = {"r", "r/", "r/.", "outside/../r", "./r//"};
    OutputPlace place;
    place.path = place_.path() / kSpellings[roll(std::size(kSpellings))];
    place.identity = {roll(3) == 0 ? "diff" : "analyze", "trace.json",
                      roll(4) == 0 ? "--steps 1:2" : ""};
    place.force = roll(2) == 0;
    const Snapshot before = snapshot(report());
    Result<OutputDirectory> created = OutputDirectory::create(place);
    if (!created.ok()) {
      EXPECT_FALSE(place.force) << created.error().message;
      EXPECT_EQ(snapshot(report()), before) << "a refusal changes nothing";
      return;
    }
    std::map<std::string, std::string> files;
    {
      OutputDirectory out = created.take();
      for (const char* name : {"a.csv", "b.csv", "sub/a.csv", "sub/d/c", "deep/e/f/g"}) {
        if (roll(2) == 0) continue;
        files[name] = fmt::format("report's {} {}", name, roll(3));
        ASSERT_TRUE(out.write_file(name, files[name]).ok());
      }
      if (roll(5) == 0) files.clear();
      if (!files.empty()) {
        const auto committed = out.commit();
        ASSERT_TRUE(committed.ok()) << committed.error().message;
      }
    }
    if (files.empty()) {
      EXPECT_EQ(snapshot(report()), before) << "without a commit nothing changes";
      return;
    }
    const std::optional<ReportManifest> manifest = verified_report(report());
    ASSERT_TRUE(manifest);
    EXPECT_EQ(manifest->identity, place.identity);
    EXPECT_EQ(manifest->files.size(), files.size());
    for (const auto& [name, content] : files) EXPECT_EQ(test::read_file(report() / name), content);
  }

  void check() {
    Snapshot around = snapshot(place_.path());
    std::multimap<std::string, std::string> kept;
    for (const auto& [path, content] : snapshot(report())) {
      around.erase("r/" + path);
      kept.emplace(before_kept(path), content);
      // What is neither the report's nor the user's is left over.
      EXPECT_EQ(path.find(".fathom-tmp-"), std::string::npos) << path;
    }
    around.erase("r");
    EXPECT_EQ(around, around_) << "around the report";
    for (const auto& [path, contents] : users_) {
      for (const std::string& content : contents) {
        const auto [begin, end] = kept.equal_range(before_kept(path));
        EXPECT_TRUE(std::any_of(begin, end, [&](const auto& e) { return e.second == content; }))
            << path << ": " << content << " is gone";
      }
    }
  }

  std::mt19937_64 random_;
  test::TemporaryDirectory place_;
  Snapshot around_;
  std::map<std::string, std::set<std::string>> users_;
  int planted_ = 0;
};

TEST(OutputLawsTest, OnlyFilesOfTheManifestAreRemovedOrChanged) {
  for (uint64_t seed = 0; seed < 25 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    OutputLaws(seed).run(40);
  }
}

// The same with the program, and with other file systems mounted on and in reports.
TEST(OutputLawsTest, MountPointsAreWrittenIntoAndNeverRemoved) {
  const test::TemporaryDirectory place;
  const auto run = [&](const std::string& command) {
    return test::run_command(command, place.path());
  };
  if (run("mkdir r other && mount -t tmpfs none r 2>/dev/null").exit_code != 0)
    GTEST_SKIP() << "skipped: this machine does not let us mount";
  const std::string analyze =
      fmt::format("{} analyze {}/examples/ddp-rank0-h200.json.gz -q --out r", test::fathom_binary(),
                  test::source_dir().string());
  EXPECT_EQ(run(analyze).exit_code, 0) << "an empty mount point";
  EXPECT_EQ(run("echo mine >r/mine").exit_code, 0);
  const test::CommandResult again = run(analyze);
  EXPECT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_EQ(run("cat r/mine").output, "mine\n");
  EXPECT_TRUE(verified_report(place.path() / "r"));
  // A folder of the report is a mount point: nothing can be moved there, and all is taken back.
  EXPECT_EQ(run("echo x >other/x && mount --bind other r/perf_report_csvs").exit_code, 0);
  const std::string before = run("find r other -type f | sort | xargs cksum").output;
  EXPECT_EQ(run(analyze).exit_code, 1);
  EXPECT_EQ(run("find r other -type f | sort | xargs cksum").output, before);
  run("umount r/perf_report_csvs; umount r");
  EXPECT_EQ(run("ls -A r other").output, "other:\nx\n\nr:\n");
}

}  // namespace
}  // namespace fathom
