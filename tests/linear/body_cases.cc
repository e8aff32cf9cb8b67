// Functions that are long, classes that have much, and what they open of each other.
#include <fmt/format.h>

#include "linear_cases.h"
#include "test_files.h"

namespace fathom::test {
namespace {

using Text = std::function<std::string(size_t n)>;

LinearCase of_code(std::string name, std::string file, size_t n, Text text) {
  return {std::move(name),
          [file = std::move(file), text = std::move(text)](const std::filesystem::path& directory,
                                                           size_t size) {
            write_file(directory / "repo" / file, text(size));
          },
          "scan repo --out out", n};
}

// One row for each number below n; "{0}" stands for it.
std::string each(std::string_view text, size_t n) {
  std::string out;
  for (size_t i = 0; i < n; ++i) out += fmt::format(fmt::runtime(text), i);
  return out;
}

std::vector<LinearCase> cpp_bodies() {
  return {
      of_code("LongBodyThatReadsThroughItself", "a.cu", 500,
              [](size_t n) {
                return "__global__ void k(int* a, int p) {\n" + repeated("p = p + a[p];\n", n) +
                       "a[p] = p; }\nvoid f() { k<<<1, 1>>>(0, 0); }\n";
              }),
      of_code("PointersOfOneDeclaration", "a.cu", 400,
              [](size_t n) {
                return "__global__ void k(int i) {\nint " + each("a{0}, ", n) + each("*p{0}, ", n) +
                       "z;\n" + each("p{0}[p{0}[i]] = 1;\n", n) + "}\n";
              }),
      of_code("MethodsOfOneClass", "a.cu", 400,
              [](size_t n) {
                return "struct S { int *p, *q;\n" +
                       each("__device__ void m{0}(int i) {{ p[q[i]] = p[i]; *(p + q[i]) = 1; }}\n",
                            n) +
                       "};\n__global__ void k(S s) { s.m0(1); }\n";
              }),
  };
}

std::vector<LinearCase> python_bodies() {
  constexpr std::string_view kHead =
      "import triton\nimport triton.language as tl\n@triton.jit\ndef h(x):\n";
  const auto kernel = [](std::string body) {
    return "@triton.jit\ndef k(x):\n" + body + "\ndef f(x):\n  k[(1,)](x)\n";
  };
  return {
      of_code("LongTritonBody", "a.py", 2000,
              [=](size_t n) {
                return std::string(kHead) + "  pass\n" +
                       kernel(repeated("  x = x + tl.load(x)\n", n));
              }),
      of_code("TritonStatementsOfOneLine", "a.py", 500,
              [=](size_t n) {
                return std::string(kHead) + "  pass\n" +
                       kernel("  " + repeated("h(x); tl.store(x, 1); ", n));
              }),
      // Each of n calls opens n calls that open n statements.
      of_code("TritonCallsThatOpenCalls", "a.py", 30,
              [=](size_t n) {
                return std::string(kHead) + repeated("  tl.store(x, 1)\n", n) +
                       "@triton.jit\ndef g(x):\n" + repeated("  h(x)\n", n) +
                       kernel(repeated("  g(x)\n", n));
              }),
  };
}

// Modules that bring each other by `import *`, and ask each other for a name that none has.
LinearCase stars_in_a_ring() {
  return {"StarImportsInARing",
          [](const std::filesystem::path& directory, size_t n) {
            for (size_t i = 0; i < n; ++i) {
              write_file(directory / "repo/m" / fmt::format("m{}.py", i),
                         fmt::format("from .m{} import *\nfrom .m{} import x\n", (i + 1) % n,
                                     (i + 3) % n));
            }
          },
          "scan repo --out out", 400};
}

}  // namespace

std::vector<LinearCase> body_cases() {
  std::vector<LinearCase> all = {stars_in_a_ring()};
  for (const auto& part : {cpp_bodies(), python_bodies()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace fathom::test
