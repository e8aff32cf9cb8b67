// Repositories made to crash, to hang or to exhaust a scanner: each is read to the end, and what
// was passed over is said.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <random>

#include "checks.h"
#include "scan/scan_repository.h"
#include "story/source_outlines.h"
#include "story/tell_stories.h"
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
  constexpr size_t kBytes = 1 << 20;  // a level of recursion takes more than 8 bytes of stack
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

// Short device functions that call each other, or one another in a long chain: a story tells such
// functions in place.
TEST_F(ScanHostile, DeviceFunctionsInCircles) {
  std::string text =
      "__device__ float odd(float x);\n"
      "__device__ float even(float x) { return odd(x) + odd(x); }\n"
      "__device__ float odd(float x) { return even(x) + even(x); }\n";
  for (int i = 0; i < 20000; ++i) {
    const std::string number = std::to_string(i), next = std::to_string(i + 1);
    text += "__device__ float f" + number + "(float* x) { return f" + next + "(x); }\n";
  }
  text +=
      "__device__ float f20000(float* x) { return x[0]; }\n"
      "__global__ void deep(float* x) {\n  x[0] = even(x[1]);\n  x[1] = f0(x);\n}\n";
  write("deep.cu", text);
  write_healthy();
  const CodeFacts facts = scan();
  expect_healthy_kernel(facts);
  SourceOutlines sources(repository_.path(), facts.files);
  EXPECT_EQ(tell_stories(facts, StoryContext(), &sources).kernels.size(), facts.kernels.size());
}

// A class's constant that is defined by itself, whatever lies between.
TEST_F(ScanHostile, ConstantsThatReferToThemselves) {
  write("itself.cu",
        "template <typename T> struct view { static constexpr int size = T::size; };\n"
        "template <typename T>\n"
        "__device__ void phase(float* x) { if constexpr (T::size == 1) { x[0] = 1.f; } }\n"
        "template <typename T>\n"
        "__global__ void k(float* x) { using V = view<T>; phase<V>(x); }\n");
  std::string round;
  for (int i = 0; i < 1000; ++i) {
    round += fmt::format("struct S{} {{ static constexpr int e = S{}::e + S{}::e; }};\n", i,
                         (i + 1) % 1000, (i + 2) % 1000);
  }
  write("round.cu", round + "__global__ void r(int* x) { x[S0::e] = S1::e; }\n");
  write_healthy();
  const CodeFacts facts = scan();
  expect_healthy_kernel(facts);
  EXPECT_EQ(facts.kernels.size(), 3u);
}

// A few hundred bytes that unfold without end where each name is followed every time it stands.
TEST_F(ScanHostile, NamesThatMultiply) {
  constexpr int kNames = 12;
  std::string constants, macros, locals, parents;
  for (int i = 0; i < kNames; ++i) {
    const auto times = [&](const std::string& text, const char* between) {
      std::string out = text;
      for (int k = 1; k < 8; ++k) out += between + text;
      return out;
    };
    const std::string next = fmt::format("c{}", i + 1);
    constants += fmt::format("constexpr int c{} = {};\n", i, times(next, " * "));
    locals = fmt::format("int d{} = {};\n", i, times(fmt::format("d{}", i + 1), " * ")) + locals;
    macros += fmt::format("#define M{} {}\n", i, times(fmt::format("M{}", i + 1), " "));
    std::string stars, bases;
    for (int k = 0; k < kNames; ++k) {
      if (k == i) continue;
      stars += fmt::format("from m{} import *\nfrom m{} import lost\n", k, k);
      bases += fmt::format("{}C{}", bases.empty() ? "" : ", ", k);
    }
    parents += fmt::format("class C{}({}):\n  def f(self): self.lost(); self.gone.g()\n", i, bases);
    write(fmt::format("m{}.py", i), stars +
                                        "import argparse\np = argparse.ArgumentParser()\n"
                                        "p.add_argument('--x', default=lost)\n");
  }
  write("parents.py", parents + "x = C0()\nx.lost()\n");
  write("names.cu", constants + "constexpr int c12 = 2;\n" + macros + "#define M12\n" +
                        "__global__ void k(int* x, int n) { x[c0 + threadIdx.x] = n; M0 }\n"
                        "void f(int* p, int b) { int d12 = b; " +
                        locals + "k<<<c0, d0>>>(p, d1); M0 }\n");
  write_healthy();
  expect_healthy_kernel(scan());
}

// Expressions that are evaluated once for what they are, and once for where they lie.
TEST_F(ScanHostile, ExpressionsInsideOneAnother) {
  const auto many = [](std::string_view text, size_t n) {
    std::string out;
    for (size_t i = 0; i < n; ++i) out += text;
    return out;
  };
  for (const size_t n : {60u, 100'000u}) {
    const std::string kernel = fmt::format("__global__ void k{}(int* p, int a) {{ p[", n);
    write(fmt::format("signs{}.cu", n), kernel + many("-", n) + "a] = 1; }\n");
    write(fmt::format("steps{}.cu", n), kernel + many("++", n) + "a] = 1; }\n");
    write(fmt::format("sums{}.cu", n), kernel + many("a + ", n) + "a] = 1; }\n");
    write(fmt::format("mixed{}.cu", n), kernel + many("a * 2 - ", n) + "a] = 1; }\n");
    write(fmt::format("less{}.cu", n), kernel + many("a<", n) + "a] = 1; }\n");
    write(fmt::format("calls{}.cu", n), kernel + "a" + many("(1)", n) + "] = 1; }\n");
    write(fmt::format("members{}.cu", n), kernel + "a" + many(".b", n) + "] = 1; }\n");
    write(fmt::format("lists{}.cu", n), kernel + "a] = " + many("{", n) + many("}", n) + "; }\n");
    write(fmt::format("stores{}.cu", n),
          kernel + many("p[", n) + "a" + many("] += 1", n) + "] = 1; }\n");
    write(fmt::format("choices{}.cu", n),
          kernel + many("(", n) + "a" + many(" < 1 ? 1 : 0)", n) + "] = 1; }\n");
    write(fmt::format("k{}.py", n),
          "import triton\nimport triton.language as tl\n@triton.jit\ndef k(x):\n  y = x" +
              many(".b", n) + "\n  z = x" + many("(1)", n) + "\n  w = x" + many("[1]", n) +
              "\n  v = 1" + many(" + 1 - 1", n) + "\n  tl.store(x + y, 1)\n");
  }
  std::string squares = "__global__ void s(int* p, int a) { int x0 = a;", texts = squares;
  for (int i = 0; i < 40; ++i) {
    squares += fmt::format(" int x{} = x{} * x{};", i + 1, i, i);
    texts += fmt::format(" int x{0} = max(x{1}, x{1}) + (x{1} ^ x{1});", i + 1, i);
  }
  write("squares.cu", squares + " p[x40 + threadIdx.x] = 1; }\n");
  write("texts.cu", texts + " p[x40 + threadIdx.x] = 1; }\n");
  write_healthy();
  expect_healthy_kernel(scan());
}

// Each launch may mean each of them: the scan says that, and does not list it.
TEST_F(ScanHostile, KernelsOfOneName) {
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    text += fmt::format(
        "__global__ void k(int* a) {{ a[0] = {0}; }}\nvoid f{0}(int* p) {{ k<<<1, 2>>>(p); }}\n",
        i);
  }
  write("a.cu", text);
  write_healthy();
  const CodeFacts facts = scan();
  expect_healthy_kernel(facts);
  ASSERT_EQ(facts.kernels.size(), 1001u);
  for (const KernelFacts& kernel : facts.kernels) {
    EXPECT_FALSE(kernel.dead);
    EXPECT_EQ(kernel.launchers.size(), 1u);
  }
  EXPECT_EQ(facts.kernels[0].launchers[0].via, "a name that 1000 kernels have");
  EXPECT_EQ(facts.kernels[0].launchers[0].certainty, Certainty::kUnsure);
}

}  // namespace
}  // namespace fathom
