// Repositories made to crash, to hang or to exhaust a scanner: each is read to the end, and what
// was passed over is said.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>

#include "scan/scan_repository.h"
#include "test_files.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

class ScanHostile : public testing::Test {
 protected:
  void write(const std::string& name, std::string_view content) {
    test::write_file(repository_.path() / name, content);
  }
  CodeFacts scan() {
    Result<CodeFacts> facts = scan_repository(repository_.path());
    EXPECT_TRUE(facts.ok()) << facts.error().message;
    return facts.ok() ? facts.take() : CodeFacts();
  }
  // The kernel of a healthy file beside the hostile ones is found all the same.
  void expect_healthy_kernel(const CodeFacts& facts) {
    const auto healthy =
        std::find_if(facts.kernels.begin(), facts.kernels.end(),
                     [](const KernelFacts& kernel) { return kernel.name == "healthy"; });
    ASSERT_NE(healthy, facts.kernels.end());
    EXPECT_EQ(healthy->launchers.size(), 1u);
  }
  void write_healthy() {
    write("healthy.cu",
          "__global__ void healthy(int* x) { x[0] = 1; }\n"
          "void run(int* x) { healthy<<<1, 1>>>(x); }\n");
  }

  test::TemporaryDirectory repository_;
};

TEST_F(ScanHostile, RandomBytes) {
  std::mt19937 random(7);
  for (int i = 0; i < 30; ++i) {
    std::string bytes(5000, '\0');
    for (char& c : bytes) c = static_cast<char>(1 + random() % 255);  // a zero byte means binary
    for (const char* ending : {"cu", "py", "h", "cu.jinja", "toml", "yaml", "md"}) {
      write(fmt::format("random{}.{}", i, ending), bytes);
    }
  }
  write_healthy();
  const CodeFacts facts = scan();
  EXPECT_EQ(facts.files.size(), 30u * 7 + 1);
  const auto healthy = [](const KernelFacts& kernel) { return kernel.name == "healthy"; };
  EXPECT_EQ(std::count_if(facts.kernels.begin(), facts.kernels.end(), healthy), 1);
}

TEST_F(ScanHostile, WordsThatMatterInAnyOrder) {
  const char* words[] = {
      "__global__",    "void",  "(",        ")",       "{",       "}",         "<",    ">",
      "<<<",           ">>>",   "template", "#if 1\n", "#else\n", "#endif\n",  "\"",   "'",
      "R\"x(",         "/*",    "name",     ",",       ";",       "#define X", "\\\n", "\n",
      "@triton.jit\n", "def f", ":",        "class A", "    ",    "f\"{"};
  std::mt19937 random(11);
  for (int i = 0; i < 40; ++i) {
    std::string text;
    for (int k = 0; k < 3000; ++k) text += std::string(words[random() % std::size(words)]) + " ";
    write(fmt::format("words{}.cu", i), text);
    write(fmt::format("words{}.py", i), text);
  }
  EXPECT_EQ(scan().files.size(), 80u);
}

TEST_F(ScanHostile, DeepNesting) {
  constexpr size_t kBytes = 10 << 20;
  const std::string round(kBytes, '(');
  std::string mixed;
  while (mixed.size() < kBytes) mixed += "{<";
  for (const char* ending : {"cu", "py", "cu.jinja"}) {
    write(fmt::format("round.{}", ending), "__global__ void k" + round);
    write(fmt::format("mixed.{}", ending), "__global__ void k()" + mixed);
  }
  write_healthy();
  expect_healthy_kernel(scan());
}

TEST_F(ScanHostile, LargeFilesAreSaidToBeSkipped) {
  write("large.cu", "__global__ void large() {}\n");
  fs::resize_file(repository_.path() / "large.cu", 100 << 20);
  write_healthy();
  const CodeFacts facts = scan();
  expect_healthy_kernel(facts);
  ASSERT_EQ(facts.notes.size(), 1u);
  EXPECT_NE(facts.notes[0].find("large.cu"), std::string::npos) << facts.notes[0];
}

TEST_F(ScanHostile, LinksThatGoRound) {
  fs::create_directory(repository_.path() / "a");
  fs::create_directory_symlink("..", repository_.path() / "a" / "up");
  fs::create_symlink("self", repository_.path() / "self");
  fs::create_symlink("/etc/passwd", repository_.path() / "outside.py");
  write_healthy();
  const CodeFacts facts = scan();
  expect_healthy_kernel(facts);
  EXPECT_EQ(facts.files.size(), 1u);
  ASSERT_EQ(facts.notes.size(), 1u);
  EXPECT_TRUE(facts.notes[0].starts_with("3 symbolic links are not followed")) << facts.notes[0];
}

TEST_F(ScanHostile, NamesWithLineBreaks) {
  write("line\nbreak.cu", "__global__ void odd(int* x) { x[0] = 1; }\n");
  write("quote\".py", "import os\nos.getenv('ODD')\n");
  const CodeFacts facts = scan();
  ASSERT_EQ(facts.kernels.size(), 1u);
  EXPECT_EQ(facts.files[facts.kernels[0].at.file].path, "line\nbreak.cu");
  ASSERT_EQ(facts.options.size(), 1u);
}

// Names and imports that refer to one another in circles.
TEST_F(ScanHostile, Circles) {
  write("a.py", "from b import X, Base\nY = X\nclass A(Base):\n    f: int = Y\n");
  write("b.py",
        "from a import Y, A\nX = Y\nclass Base(A):\n    g: int = X\n"
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--x', default=X)\n");
  write("c.h", "#include \"d.h\"\n#define ONE TWO\n#define TWO ONE\nONE(x)\n");
  write("d.h", "#include \"c.h\"\n");
  const CodeFacts facts = scan();
  const auto is_x = [](const OptionFacts& option) { return option.name == "--x"; };
  EXPECT_EQ(std::count_if(facts.options.begin(), facts.options.end(), is_x), 1);
}

}  // namespace
}  // namespace fathom
