// Repositories whose listing, documents, manifests and git files are made to confuse: what can be
// read is, and what was left out is said.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "base/path_ends.h"
#include "checks.h"
#include "scan/docs/readme.h"
#include "scan/files/git_files.h"
#include "scan/scan_repository.h"
#include "test_files.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

class ReaderHostile : public testing::Test {
 protected:
  void write(const std::string& name, std::string_view content) {
    test::write_file(repository_.path() / name, content);
  }
  CodeFacts scan() {
    Result<CodeFacts> facts = scan_repository(repository_.path(), {.threads = 1, .progress = {}});
    EXPECT_TRUE(facts.ok()) << facts.error().message;
    return facts.ok() ? facts.take() : CodeFacts();
  }
  static bool has_kernel(const CodeFacts& facts, std::string_view name) {
    return std::ranges::find(facts.kernels, name, &KernelFacts::name) != facts.kernels.end();
  }
  static bool has_file(const CodeFacts& facts, std::string_view path) {
    return std::ranges::find(facts.files, path, &SourceFile::path) != facts.files.end();
  }
  static bool has_note(const CodeFacts& facts, std::string_view part) {
    return std::ranges::any_of(facts.notes, [part](const std::string& note) {
      return note.find(part) != std::string::npos;
    });
  }
  test::TemporaryDirectory repository_;
};

constexpr std::string_view kKernel = "__global__ void healthy(int* x) { x[0] = 1; }\n";

// Numbers of an index have their highest byte first.
std::string big_endian(uint32_t value, size_t bytes) {
  std::string out(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) out[bytes - 1 - i] = static_cast<char>(value >> (8 * i));
  return out;
}

std::string index_header(uint32_t version, uint32_t count) {
  return "DIRC" + big_endian(version, 4) + big_endian(count, 4);
}

// An entry of version 4: drops so many bytes of the path before it, and adds the rest.
std::string short_entry(size_t dropped, std::string_view rest, size_t length) {
  std::string out(60, '\0');
  out += big_endian(static_cast<uint32_t>(std::min<size_t>(length, 0xfff)), 2);
  std::string offset(1, static_cast<char>(dropped & 127));
  while ((dropped >>= 7) != 0) {
    --dropped;
    offset.insert(offset.begin(), static_cast<char>(128 | (dropped & 127)));
  }
  return out + offset + std::string(rest) + '\0';
}

std::string whole_entry(std::string_view path, bool extended) {
  std::string out(60, '\0');
  out += big_endian(static_cast<uint32_t>(path.size()) | (extended ? 0x4000u : 0u), 2);
  if (extended) out += std::string(2, '\0');
  out += path;
  return out + std::string(8 - out.size() % 8, '\0');
}

TEST(HostileIndex, AllVersionsSayTheSame) {
  const std::vector<std::string> paths = {"a.cu", "src/deep/b.h", "src/deep/c.h", "src/d.py"};
  std::string second = index_header(2, 4), third = index_header(3, 4), fourth = index_header(4, 4);
  std::string before;
  for (const std::string& path : paths) {
    second += whole_entry(path, false);
    third += whole_entry(path, true);
    const size_t same =
        static_cast<size_t>(std::ranges::mismatch(before, path).in1 - before.begin());
    fourth += short_entry(before.size() - same, path.substr(same), path.size());
    before = path;
  }
  for (const std::string& index : {second, third, fourth}) {
    const auto tracked = TrackedPaths::read(index);
    ASSERT_TRUE(tracked);
    EXPECT_EQ(tracked->size(), 4u);
    for (const std::string& path : paths) EXPECT_TRUE(tracked->has_file(path)) << path;
    EXPECT_FALSE(tracked->has_file("src/deep"));
    EXPECT_FALSE(tracked->has_file("b.h"));
    EXPECT_TRUE(tracked->has_folder("src"));
    EXPECT_TRUE(tracked->has_folder("src/deep"));
    EXPECT_FALSE(tracked->has_folder("src/d"));
    EXPECT_FALSE(tracked->has_folder("a.cu"));
    // Cut anywhere it is no index, and one that says more entries than it has is none either.
    for (size_t size = 0; size < index.size(); ++size) {
      const auto cut = TrackedPaths::read(std::string_view(index).substr(0, size));
      EXPECT_TRUE(!cut || cut->size() == 4) << size;  // only filling behind the last is missing
    }
  }
  second[11] = 5;
  EXPECT_FALSE(TrackedPaths::read(second));
}

// Each entry takes a byte off the path before it and adds one: written out, 2.4 GB.
TEST(HostileIndex, PathsThatGrowFromOneAnother) {
  constexpr size_t kEntries = 40000, kLength = 60000;
  std::string index = index_header(4, kEntries + 1);
  index += short_entry(0, std::string(kLength, 'a'), kLength);
  for (size_t i = 0; i + 1 < kEntries; ++i) index += short_entry(1, "b", kLength);
  index += short_entry(kLength, "x.cu", 4);
  const auto tracked = TrackedPaths::read(index);
  ASSERT_TRUE(tracked);
  EXPECT_EQ(tracked->size(), 1u);  // longer ones cannot be opened
  EXPECT_TRUE(tracked->has_file("x.cu"));
}

TEST_F(ReaderHostile, ADamagedIndexIsSaid) {
  write(".git/HEAD", "ref: refs/heads/main\n");
  write(".git/index", index_header(2, 0xffffffff) + whole_entry("kept.cu", false));
  write(".gitignore", "kept.cu\n");
  write("kept.cu", kKernel);
  write("other.cu", "void f() {}\n");
  const CodeFacts facts = scan();
  EXPECT_TRUE(has_note(facts, "tracked files unknown")) << fmt::to_string(facts.notes.size());
  EXPECT_FALSE(has_file(facts, "kept.cu"));
  write(".git/index", index_header(2, 1) + whole_entry("kept.cu", false));
  EXPECT_TRUE(has_file(scan(), "kept.cu"));
}

TEST_F(ReaderHostile, FoldersDeeperThanAnyPath) {
  write("healthy.cu", kKernel);
  const int root = open(repository_.path().c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_GE(root, 0);
  int at = dup(root);
  constexpr int kDepth = 3000;
  for (int i = 0; i < kDepth; ++i) {
    ASSERT_EQ(mkdirat(at, "d", 0777), 0);
    const int next = openat(at, "d", O_RDONLY | O_DIRECTORY);
    close(at);
    at = next;
  }
  close(at);
  const CodeFacts facts = scan();
  EXPECT_TRUE(has_kernel(facts, "healthy"));
  EXPECT_TRUE(has_note(facts, "1 folder cannot be read"));
  // std::filesystem::remove_all cannot follow either.
  test::run_command("rm -rf d", repository_.path());
  close(root);
}

TEST_F(ReaderHostile, NamesThatAreNoText) {
  write("\xff\xfe.cu", kKernel);
  write(std::string(250, 'n') + ".cu", "__global__ void longname() {}\n");
  write("\x1b[31m.py", "import os\nos.getenv('ODD')\n");
  ASSERT_EQ(mkfifo((repository_.path() / "pipe.cu").c_str(), 0600), 0);
  const CodeFacts facts = scan();
  EXPECT_TRUE(has_kernel(facts, "healthy"));
  EXPECT_TRUE(has_kernel(facts, "longname"));
  EXPECT_EQ(facts.options.size(), 1u);
  EXPECT_TRUE(has_note(facts, "pipe.cu"));
}

TEST_F(ReaderHostile, OtherEncodings) {
  write("marked.cu", "\xef\xbb\xbf" + std::string(kKernel));
  write("latin.cu", "__global__ void latin() {}  // caf\xe9\n");
  write("wide.cu", std::string("\xff\xfe_\0_\0", 6));
  write("zero.cu", std::string("__global__ void zero() {}\n\0", 27));
  write("hole.cu", "__global__ void before_hole() {}\n" + std::string(9000, ' ') +
                       std::string(100000, '\0') + "__global__ void behind_hole() {}\n");
  const CodeFacts facts = scan();
  for (const char* name : {"healthy", "latin", "before_hole", "behind_hole"}) {
    EXPECT_TRUE(has_kernel(facts, name)) << name;
  }
  EXPECT_TRUE(has_note(facts, "UTF-16 file"));
  EXPECT_TRUE(has_note(facts, "zero.cu"));
}

// What a repository writes once must not be kept once for each thing below it.
TEST_F(ReaderHostile, LongGroupsAndHeadings) {
  const std::string name(200000, 'g');
  std::string list;
  for (int i = 0; i < 2000; ++i) list += "\"a\",";
  write("pyproject.toml", "[project.optional-dependencies]\n" + name + " = [" + list + "]\n");
  write("setup.py", "setup(extras_require={'" + name + "': [" + list + "]})\n");
  write("README.md", "# " + name + "\n\n" + name + "\n");
  const CodeFacts facts = scan();
  EXPECT_EQ(facts.dependencies.size(), 4000u);
  for (const DependencyFacts& dependency : facts.dependencies) {
    EXPECT_LE(dependency.group.size(), 110u);
  }
  ASSERT_TRUE(facts.readme);
  EXPECT_LE(facts.readme->title.size(), 310u);
  EXPECT_LE(facts.readme->first_paragraph.size(), 2010u);
}

TEST(HostileReadme, LinksInLinks) {
  EXPECT_EQ(plain_text("a [b [c](d) e](f) g"), "a b c e g");
  EXPECT_EQ(plain_text("[![badge](x.svg)](y) text"), "text");
  EXPECT_EQ(plain_text("[a](b [c](d)"), "a");
  EXPECT_EQ(plain_text("[a [b](c] (d)"), "[a b");
  EXPECT_EQ(plain_text("[a][b] [c]"), "a [c]");
  EXPECT_EQ(plain_text("![x] ![y](z"), "![x] ![y](z");
  EXPECT_EQ(plain_text(std::string(100000, '[') + "x" + std::string(100000, ']') + "(y)"),
            std::string(99999, '[') + "x" + std::string(99999, ']'));
}

// PathEnds against looking at every path.
TEST(PathEnds, NearestOfAll) {
  std::mt19937 random(5);
  const char* parts[] = {"a", "b", "ab", "c"};
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> paths;
    for (size_t i = 0; i < 1 + random() % 12; ++i) {
      std::string path = parts[random() % 4];
      while (random() % 3 != 0) path += std::string("/") + parts[random() % 4];
      paths.push_back(path);
    }
    std::ranges::sort(paths);
    paths.erase(std::ranges::unique(paths).begin(), paths.end());
    PathEnds ends({paths.begin(), paths.end()});
    for (const std::string end : {"a", "b", "a/b", "ab", "c/a", "d"}) {
      for (const std::string near : {"a/b/c", "b", "ab/a", "c/c/c", ""}) {
        std::optional<uint32_t> expected;
        size_t best = 0;
        bool below = false;
        for (uint32_t i = 0; i < paths.size(); ++i) {
          below |= paths[i].ends_with("/" + end);
          if (paths[i] != end && !paths[i].ends_with("/" + end)) continue;
          const auto shared =
              static_cast<size_t>(std::ranges::mismatch(paths[i], near).in1 - paths[i].begin());
          if (expected && shared <= best) continue;
          expected = i;
          best = shared;
        }
        EXPECT_EQ(ends.nearest(end, near), expected) << end << " near " << near;
        EXPECT_EQ(ends.has_below_folder(end), below) << end;
      }
    }
  }
}

}  // namespace
}  // namespace fathom
