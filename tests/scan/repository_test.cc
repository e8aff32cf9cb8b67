#include "scan/files/repository.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <set>

#include "checks.h"
#include "scan/scan_repository.h"
#include "test_files.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using test::run_command;
using test::write_file;

class RepositoryTest : public ::testing::Test {
 protected:
  fs::path root() const { return temporary_.path() / "repo"; }
  void put(const std::string& path, std::string_view content = "x\n") const {
    write_file(root() / path, content);
  }
  Repository list() const {
    Result<Repository> listed = list_repository(root());
    EXPECT_TRUE(listed.ok()) << (listed.ok() ? "" : listed.error().message);
    return listed.ok() ? listed.take() : Repository{};
  }
  std::vector<std::string> paths() const {
    std::vector<std::string> names;
    for (const SourceFile& file : list().files) names.push_back(file.path);
    return names;
  }
  SourceFile file(const std::string& path) const {
    for (const SourceFile& f : list().files) {
      if (f.path == path) return f;
    }
    ADD_FAILURE() << path << " is not listed";
    return {};
  }
  bool has_git() const { return run_command("command -v git", "/").exit_code == 0; }
  void git(const std::string& command) const {
    const auto result = run_command(
        "git -c user.name=a -c user.email=a@b -c init.defaultBranch=main " + command, root());
    ASSERT_EQ(result.exit_code, 0) << command << result.errors;
  }

  test::TemporaryDirectory temporary_;
};

using NameList = std::vector<std::string>;

TEST_F(RepositoryTest, FilesInOrderWithLinesAndLanguages) {
  put("src/kernel.cu", "__global__ void f() {}\n\n// end");
  put("src/a.h", "");
  put("run", "#!/usr/bin/env python3\nprint()\n");
  put("tool", "#!/bin/sh -e\n");
  put("CMakeLists.txt", "project(x)\n");
  put("t.py.in");
  EXPECT_EQ(paths(),
            (NameList{"CMakeLists.txt", "run", "src/a.h", "src/kernel.cu", "t.py.in", "tool"}));
  EXPECT_EQ(file("src/kernel.cu").lines, 3u);
  EXPECT_EQ(file("src/kernel.cu").language, Language::kCuda);
  EXPECT_EQ(file("src/a.h").lines, 0u);
  EXPECT_EQ(file("src/a.h").language, Language::kCpp);
  EXPECT_EQ(file("run").language, Language::kPython);
  EXPECT_EQ(file("tool").language, Language::kShell);
  EXPECT_EQ(file("CMakeLists.txt").language, Language::kCMake);
  EXPECT_EQ(file("t.py.in").language, Language::kPython);
  EXPECT_EQ(list().name, "repo");
}

TEST_F(RepositoryTest, NestedIgnoreFiles) {
  put(".gitignore", "*.log\nout/\n");
  put("a.log");
  put("out/a.cu");
  put("sub/.gitignore", "!keep.log\n/only_here\n");
  put("sub/keep.log");
  put("sub/only_here");
  put("sub/deep/only_here");
  EXPECT_EQ(paths(),
            (NameList{".gitignore", "sub/.gitignore", "sub/deep/only_here", "sub/keep.log"}));
  const NameList notes = list().notes;
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(notes[0], "1 folder is ignored by .gitignore: out");
  EXPECT_EQ(notes[1], "2 files are ignored by .gitignore: a.log, sub/only_here");
}

// An archive of a commit has no .git, and all its files were tracked.
TEST_F(RepositoryTest, CodeOfAnArchiveStaysWhateverItsNameMatches) {
  put(".gitignore", "*.cuh\n*.json\nbuild/\n");
  put("csrc/apply.cuh");
  put("a.json");
  put("build/a.cuh");
  EXPECT_EQ(paths(), (NameList{".gitignore", "csrc/apply.cuh"}));
  if (!has_git()) GTEST_SKIP() << "skipped: no git";
  git("init -q");  // now git says what is left out
  git("add .gitignore");
  EXPECT_EQ(paths(), NameList{".gitignore"});
}

// A licence and what means something only at the top of a repository; a package of its own has but
// the first.
TEST_F(RepositoryTest, ACopyOfAWholeRepositoryIsOthers) {
  put("LICENSE");
  put(".github/workflows/a.yml");
  put("csrc/tiles/LICENSE.txt");
  put("csrc/tiles/.github/workflows/a.yml");
  put("csrc/tiles/include/a.h");
  put("csrc/package/LICENSE");
  put("csrc/package/a.h");
  put("csrc/other/CODE_OF_CONDUCT.md");
  put("csrc/other/a.h");
  for (const SourceFile& file : list().files) {
    const bool copied = file.path.starts_with("csrc/tiles/");
    EXPECT_EQ(file.origin, copied ? Origin::kVendored : Origin::kOwn) << file.path;
  }
}

TEST_F(RepositoryTest, WhoseCodeItIs) {
  put(".gitmodules", "[submodule \"x\"]\n\tpath = 3rdparty/cutlass\n\turl = u\n");
  put("3rdparty/cutlass/a.h");
  put("3rdparty/b.h");
  put("lib/vendor/c.h");
  put("embedded/.git", "gitdir: nowhere\n");
  put("embedded/d.h");
  put("gen.cu", "// Copyright\n// This file is auto-generated. See make.py\n");
  put("make.py", "import os\nHEAD = '// This file is auto-generated.'\n");
  EXPECT_EQ(file("3rdparty/cutlass/a.h").origin, Origin::kSubmodule);
  EXPECT_EQ(file("3rdparty/b.h").origin, Origin::kVendored);
  EXPECT_EQ(file("lib/vendor/c.h").origin, Origin::kVendored);
  EXPECT_EQ(file("embedded/d.h").origin, Origin::kSubmodule);
  EXPECT_EQ(file("gen.cu").origin, Origin::kGenerated);
  EXPECT_EQ(file("make.py").origin, Origin::kOwn);
}

TEST_F(RepositoryTest, LinksFifosAndReportsAreNotEntered) {
  put("a.cu");
  fs::create_directory_symlink(root(), root() / "loop");
  fs::create_symlink("/etc/passwd", root() / "b.cu");
  fs::create_symlink("nowhere", root() / "dangling");
  ASSERT_EQ(mkfifo((root() / "pipe.cu").c_str(), 0600), 0);
  put("old.fathom/.fathom-report");
  put("old.fathom/summary.json");
  EXPECT_EQ(paths(), NameList{"a.cu"});
  EXPECT_EQ(list().notes, (NameList{"3 symbolic links are not followed: b.cu, dangling, loop",
                                    "1 FIFO, socket or device is skipped: pipe.cu",
                                    "1 folder is a Fathom report: old.fathom/"}));
}

TEST_F(RepositoryTest, AFifoAsGitignoreDoesNotBlock) {
  put("a.cu");
  ASSERT_EQ(mkfifo((root() / ".gitignore").c_str(), 0600), 0);
  ASSERT_EQ(mkfifo((root() / ".gitmodules").c_str(), 0600), 0);
  fs::create_directories(root() / ".git/info");
  put(".git/HEAD");
  ASSERT_EQ(mkfifo((root() / ".git/index").c_str(), 0600), 0);
  ASSERT_EQ(mkfifo((root() / ".git/info/exclude").c_str(), 0600), 0);
  EXPECT_EQ(paths(), NameList{"a.cu"});
}

TEST_F(RepositoryTest, LargeAndBinaryFilesAreMarked) {
  put("data.cu");
  fs::resize_file(root() / "data.cu", 100u << 20);
  put("object.py", std::string_view("\x7f"
                                    "ELF\0\0",
                                    6));
  put("weights.py", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
  EXPECT_EQ(file("data.cu").skipped, "over 32 MB");
  EXPECT_EQ(file("data.cu").size, 100u << 20);
  EXPECT_EQ(file("object.py").skipped, "binary");
  EXPECT_EQ(file("weights.py").skipped, "a Git LFS pointer, not the file itself");
  EXPECT_EQ(list().notes, (NameList{"1 file over 32 MB was not read: data.cu",
                                    "1 source file with NUL bytes was not read: object.py"}));
}

TEST_F(RepositoryTest, OddNamesAreKeptAsTheyAre) {
  const NameList names = {"\xff\xfe.cu", "a\nb.cu", "esc\x1b[31m.cu", "`|<b>.cu"};
  for (const std::string& name : names) put(name);
  NameList sorted = names;
  std::ranges::sort(sorted);
  EXPECT_EQ(paths(), sorted);
}

TEST_F(RepositoryTest, DeepFolders) {
  std::string path;
  for (int i = 0; i < 300; ++i) path += "d/";
  put(path + "a.cu");
  EXPECT_EQ(paths(), NameList{path + "a.cu"});
}

TEST_F(RepositoryTest, WhatIsNoRepository) {
  const auto error = [](const fs::path& path) { return list_repository(path).error().message; };
  put("file");
  fs::create_directory(temporary_.path() / "empty");
  EXPECT_NE(error(root() / "file").find("is no directory"), std::string::npos);
  EXPECT_NE(error(root() / "missing").find("No such file"), std::string::npos);
  EXPECT_NE(error(temporary_.path() / "empty").find("holds no files"), std::string::npos);
}

TEST_F(RepositoryTest, TrackedFilesCountWhateverIsIgnored) {
  if (!has_git()) GTEST_SKIP() << "skipped: no git";
  for (const std::string version : {"2", "3", "4"}) {
    fs::remove_all(root());
    put(".gitignore", "*_hip*\nbuild/\n");
    put("kernel_hip.cu");
    put("build/kept/a.cu");
    git("init -q .");
    git("add -f .");
    if (version == "3") {
      put("later.cu");
      git("add -N later.cu");
    }
    git("update-index --index-version " + version);
    put("other_hip.cu");
    put("build/kept/not_tracked.cu");
    NameList expected = {".gitignore", "build/kept/a.cu", "kernel_hip.cu"};
    if (version == "3") expected.emplace_back("later.cu");
    EXPECT_EQ(paths(), expected) << "index version " << version;
  }
}

TEST_F(RepositoryTest, APartOfACheckout) {
  if (!has_git()) GTEST_SKIP() << "skipped: no git";
  put(".gitignore", "*.log\n/part/secret\nscratch/\n");
  put("part/a.cu");
  put("part/a.log");
  put("part/secret");
  put("scratch/b.log");
  git("init -q .");
  const auto names = [](const fs::path& path) {
    NameList found;
    for (const SourceFile& f : list_repository(path).take().files) found.push_back(f.path);
    return found;
  };
  EXPECT_EQ(names(root() / "part"), NameList{"a.cu"});
  // Ignored as a whole, and asked for all the same.
  EXPECT_EQ(names(root() / "scratch"), NameList{"b.log"});
}

// Patterns of all forms, with git as the judge.
TEST_F(RepositoryTest, AgreesWithGit) {
  if (!has_git()) GTEST_SKIP() << "skipped: no git";
  const NameList parts = {"a", "b", "ab", "a.o", "b.o", "abc.py", "x-y", "[z]", "a b"};
  const NameList patterns = {"a",       "/a",      "a/",     "*.o",    "!a.o",   "a/b",   "a/*",
                             "**/a",    "a/**",    "a/**/b", "!a/b/",  "[ab]",   "[!a]",  "a?",
                             "*b*",     "/*/a",    "!/a/",   "ab/*.o", "**/b/*", "\\[z]", "?b*.py",
                             "[a-x]-*", "a\\ b",   "b.o   ", "#a",     "*",      "!*/",   "!*.py",
                             "a**",     "**b",     "a/**/",  "/**/ab", "x-[^a]", "!ab",   "a**/b",
                             "a[/]b",   "a/[!b]*", "/b/**/a"};
  std::mt19937 random(7);
  const auto pick = [&random](const NameList& from) { return from[random() % from.size()]; };
  for (const std::string& one : parts) {
    for (const std::string& two : parts) {
      put(one + ".d/" + two);
      put("a.d/b/" + one + ".d/" + two);
      put("a/b/" + one + ".e/" + two);
    }
  }
  git("init -q .");
  for (int round = 0; round < 80; ++round) {
    for (const char* folder :
         {".gitignore", "a/.gitignore", "a.d/b/.gitignore", ".git/info/exclude"}) {
      std::string rules;
      for (unsigned i = 0; i < random() % 5; ++i) rules += pick(patterns) + "\n";
      put(folder, rules);
    }
    const auto result = run_command("git ls-files -z --others --exclude-standard", root());
    std::set<std::string> expected, actual;
    for (size_t at = 0; at < result.output.size();) {
      expected.insert(result.output.substr(at, result.output.find('\0', at) - at));
      at = result.output.find('\0', at) + 1;
    }
    if (expected.empty()) continue;  // all is ignored, which is an error of ours
    for (const std::string& path : paths()) actual.insert(path);
    std::string rules;
    for (const char* folder :
         {".gitignore", "a/.gitignore", "a.d/b/.gitignore", ".git/info/exclude"}) {
      rules += std::string(folder) + ":\n" + test::read_file(root() / folder);
    }
    ASSERT_EQ(actual, expected) << rules;
  }
}

TEST_F(RepositoryTest, ThreadsChangeNothing) {
  for (int i = 0; i < 600; ++i) put("f/" + std::to_string(i) + ".py", std::string(i, '\n'));
  const std::vector<SourceFile> one = list_repository(root(), 1).take().files,
                                four = list_repository(root(), 4).take().files;
  ASSERT_EQ(one.size(), four.size());
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].path, four[i].path);
    EXPECT_EQ(one[i].lines, four[i].lines);
  }
}

}  // namespace
}  // namespace fathom
