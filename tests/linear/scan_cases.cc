// Repositories whose code is made to be slow to resolve.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "linear_cases.h"
#include "test_files.h"

namespace fathom::test {
namespace {

// The text of a file of a size. Nearly all keep nothing: a dozen functions less for each to
// compile.
using PlainText = std::string (*)(size_t n);
using MadeText = std::function<std::string(size_t n)>;

// One row for each number below n; "{}" stands for it.
std::string rows(std::string_view text, size_t n) {
  std::string out;
  for (size_t i = 0; i < n; ++i) out += fmt::format(fmt::runtime(text), i);
  return out;
}

LinearCase of_made_file(std::string name, std::string file, size_t n, MadeText text) {
  return {std::move(name),
          [file = std::move(file), text = std::move(text)](const std::filesystem::path& directory,
                                                           size_t size) {
            write_file(directory / "repo" / file, text(size));
          },
          "scan repo --out out", n};
}

LinearCase of_file(std::string name, std::string file, size_t n, PlainText text) {
  return of_made_file(std::move(name), std::move(file), n, text);
}

LinearCase of_files(std::string name, std::string file, size_t n, std::string text) {
  return {std::move(name),
          [=](const std::filesystem::path& directory, size_t size) {
            for (size_t i = 0; i < size; ++i) {
              write_file(directory / "repo" / fmt::format(fmt::runtime(file), i),
                         fmt::format(fmt::runtime(text), i));
            }
          },
          "scan repo --out out", n};
}

// Several files for each number below n.
LinearCase of_sets(std::string name, std::map<std::string, std::string> files, size_t n,
                   std::map<std::string, PlainText> once = {}) {
  return {std::move(name),
          [=](const std::filesystem::path& directory, size_t size) {
            for (const auto& [file, text] : once) write_file(directory / "repo" / file, text(size));
            for (size_t i = 0; i < size; ++i) {
              for (const auto& [file, text] : files) {
                write_file(directory / "repo" / fmt::format(fmt::runtime(file), i),
                           fmt::format(fmt::runtime(text), i));
              }
            }
          },
          "scan repo --out out", n};
}

constexpr std::string_view kTriton = "import triton\nimport triton.language as tl\n";

std::vector<LinearCase> kernels_and_launches() {
  return {
      of_file("KernelsOfOneName", "a.cu", 400,
              [](size_t n) {
                return rows(
                    "__global__ void k(int* a) {{ a[0] = {0}; }}\n"
                    "void f{0}(int* p) {{ k<<<1, 2>>>(p); }}\n",
                    n);
              }),
      of_file("LaunchersAmongManyFunctions", "a.cu", 500,
              [](size_t n) {
                return rows(
                           "void a{0}(){{}} void b{0}(){{}} void c{0}(){{}} void d{0}(){{}}\n"
                           "void e{0}(){{}} void f{0}(){{}} void g{0}(){{}} void h{0}(){{}}\n",
                           n) +
                       rows("__global__ void k{0}() {{}}\nvoid l{0}() {{ k{0}<<<1, 2>>>(); }}\n",
                            n);
              }),
      // Above 200 kernels, whose stories are told in short at all three sizes.
      of_file("KernelsOfOneFunction", "a.cu", 500,
              [](size_t n) {
                return rows("__global__ void k{0}(int* a) {{ a[0] = {0}; }}\n", n) +
                       "void f(int* p) {\n" + rows("k{0}<<<1, 2>>>(p);\n", n) + "}\n";
              }),
      of_file("LaunchesOfOneKernel", "a.cu", 1000,
              [](size_t n) {
                return "__global__ void k(int* a) { a[0] = 1; }\nvoid f(int* p) {\n" +
                       rows("k<<<{0}, 2>>>(p);\n", n) + "}\n";
              }),
      of_file("LaunchesOfASwitch", "a.cu", 1000,
              [](size_t n) {
                return "template <int N> __global__ void k(int* a) { a[0] = N; }\n"
                       "void f(int* p, int n) {\nswitch (n) {\n" +
                       rows("case {0}: k<{0}><<<{0}, 2>>>(p); break;\n", n) + "}\n}\n";
              }),
      // Of more than 200 kernels the rest is told in short: n/2 is above that.
      of_file("KernelsOfASwitch", "a.cu", 800,
              [](size_t n) {
                return rows("__global__ void k{0}(int* a) {{ a[0] = {0}; }}\n", n) +
                       "void f(int* p, int n) {\nswitch (n) {\n" +
                       rows("case {0}: k{0}<<<{0}, 2>>>(p); break;\n", n) + "}\n}\n";
              }),
      // Of a name 1,024 bytes are read.
      of_file("LaunchesInAFunctionWithALongName", "a.cu", 800,
              [](size_t n) {
                return "__global__ void k(int* a) { a[0] = 1; }\nvoid " + repeated("name", 20 * n) +
                       "(int* p) {\n" + repeated("k<<<1, 2>>>(p);\n", n) + "}\n";
              }),
      of_file("OpsOfALibraryWithALongName", "a.cpp", 200,
              [](size_t n) {
                return "TORCH_LIBRARY(" + repeated("name", 20 * n) + ", m) {\n" +
                       rows("m.def(\"f{0}(Tensor x) -> Tensor\", &f{0});\n", n) + "}\n";
              }),
      of_file("TemplateWithManyArguments", "a.cu", 800,
              [](size_t n) {
                return "template <int F" + rows(", int A{0}", n) +
                       "> __global__ void k(int* p) { p[F] = 1; }\nvoid f(int* p) { k<0" +
                       rows(", {0}", n) + "><<<1, 1>>>(p); }\n";
              }),
      of_file("NamesSplitOverLines", "a.cu", 4000,
              [](size_t n) {
                return "__global__ void k(int* p) { p[" + repeated("a\\\n", n) + "] = 1; }\n" +
                       repeated("b<\\\n<\\\n", n);
              }),
      // More than 256 overloads are not followed.
      of_file("KernelsAndOverloads", "a.cu", 600,
              [](size_t n) {
                return rows("__device__ int g(T{0} x) {{ return {0}; }}\n", n) +
                       rows("__global__ void k{0}(int* a) {{ a[0] = g(1); }}\n", n);
              }),
      // Over the size from which fewer calls are followed.
      of_file("KernelsThatCallManyFunctions", "a.cu", 600,
              [](size_t n) {
                return rows("__device__ void g{0}(int* p) {{ p[{0}] = 1; }}\n", n) +
                       "__device__ void all(int* p) {" + rows("g{0}(p);", n) + "}\n" +
                       rows("__global__ void k{0}(int* p) {{ all(p); }}\n", n);
              }),
      of_file("AssignmentsAndLaunches", "a.cu", 250,
              [](size_t n) {
                return "__global__ void k(int* a) { a[0] = 1; }\nvoid f(int* p, int g) {" +
                       repeated("\n#if A\ng = g + 1;\n#endif\nk<<<g, 1>>>(p);", n) + "}\n";
              }),
      of_file("KernelsOfMacros", "a.cu", 400,
              [](size_t n) {
                return "#define DEF(x) __global__ void k##x(int* a) { a[0] = 1; }\n" +
                       rows("DEF({0})\n", n);
              }),
      of_file("KernelsOfOneNameInNamespaces", "a.cu", 400,
              [](size_t n) {
                return rows(
                    "namespace n{0} {{ __global__ void k(int* a) {{ a[0] = {0}; }} "
                    "void f(int* p) {{ k<<<1, 2>>>(p); }} }}\n"
                    "void g{0}(int* p) {{ n{0}::k<<<1, 2>>>(p); }}\n",
                    n);
              }),
      of_files(
          "FilesOfOneKernel", "d{0}/a.cu", 75,
          "__global__ void k(int* a) {{ a[0] = {0}; }}\nvoid f(int* p) {{ k<<<1, 2>>>(p); }}\n"),
  };
}

std::vector<LinearCase> expressions_and_names() {
  const auto kernel = [](std::string before, std::string text, std::string after) -> MadeText {
    return [=](size_t n) {
      return "__global__ void k(int* p, int a) {" + before + repeated(text, n) + after + "}\n";
    };
  };
  return {
      of_made_file("CallsOfCalls", "a.cu", 2000, kernel("x = a", "(1)", ";")),
      of_made_file("Sum", "a.cu", 2000, kernel("p[", "a + ", "1] = 1;")),
      of_made_file("Signs", "a.cu", 2000, kernel("p[", "-", "1] = 1;")),
      of_made_file("Comparisons", "a.cu", 2000, kernel("x = ", "A<", ";")),
      of_file("NestedIndices", "a.cu", 2000,
              [](size_t n) {
                return "__global__ void k(int* p) { p[" + repeated("p[", n) + "0" +
                       repeated("] += 1", n) + "] = 1; }\n";
              }),
      of_file("NestedConditions", "a.cu", 2000,
              [](size_t n) {
                return "__global__ void k(int* p, int a) { p[" + repeated("(", n) + "a" +
                       repeated(" < 1 ? 1 : 0)", n) + "] = 1; }\n";
              }),
      of_file("NestedLists", "a.cu", 2000,
              [](size_t n) {
                return "__global__ void k(int* p) { int x = " + repeated("{", n) +
                       repeated("}", n) + "; }\n";
              }),
      of_file("ConstantsOfClasses", "a.cu", 500,
              [](size_t n) {
                return rows("struct S{0} {{ static constexpr int e = S{0}::f; }};\n", n) +
                       "__global__ void k(int* p) {" + rows("p[S{0}::e] = 1;", n) + "}\n";
              }),
      of_file("ClassesOfOneName", "a.cu", 1200,
              [](size_t n) {
                return repeated("struct S { __device__ void m() { S s; s.m(); } };\n", n) +
                       "__global__ void k(int* p) { S s; s.m(); }\n";
              }),
  };
}

std::vector<LinearCase> python_code() {
  return {
      of_file("PythonCallsOfCalls", "a.py", 2000,
              [](size_t n) { return "x = a" + repeated("(1)", n) + "\n"; }),
      of_file("TritonKernelsWithALauncherEach", "a.py", 600,
              [](size_t n) {
                return std::string(kTriton) + rows(
                                                  "@triton.jit\ndef k{0}(x):\n  tl.store(x, 1)\n"
                                                  "def f{0}(x):\n  k{0}[(1,)](x)\n",
                                                  n);
              }),
      of_file("TritonFunctionsInAChain", "a.py", 300,
              [](size_t n) {
                std::string out(kTriton);
                for (size_t i = 0; i < n; ++i)
                  out += fmt::format("@triton.jit\ndef g{}(x):\n  g{}(x)\n", i, i + 1);
                return out + "def f(x):\n  g0[(1,)](x)\n";
              }),
      of_file("TritonKernelsOfOneFunction", "a.py", 600,
              [](size_t n) {
                return std::string(kTriton) +
                       rows("@triton.jit\ndef k{0}(x):\n  tl.store(x, 1)\n", n) + "def f(x):\n" +
                       rows("  k{0}[(1,)](x)\n", n);
              }),
      of_file("ClassesInAChain", "a.py", 250,
              [](size_t n) {
                std::string out = "class C0:\n  def g(self): pass\n";
                for (size_t i = 0; i < n; ++i)
                  out += fmt::format("class C{}(C{}):\n  def f(self): self.g()\n", i + 1, i);
                return out;
              }),
      of_file("NamesOfOneFile", "a.py", 500,
              [](size_t n) {
                return rows("import m{0}\ndef f{0}(x): return f{0}(m{0}.f(x))\nX{0} = {0}\n", n);
              }),
      // One constant is the help, the name or the choices of all options.
      of_file("OptionsOfOneHelp", "a.py", 200,
              [](size_t n) {
                return "import argparse\nH = \"" + repeated("help ", 40 * n) +
                       "\"\np = argparse.ArgumentParser()\n" +
                       rows("p.add_argument('--a{0}', help=H, dest=H)\n", n);
              }),
      of_file("FieldsOfOneHelp", "a.py", 200,
              [](size_t n) {
                return "import dataclasses\nH = \"" + repeated("help ", 40 * n) +
                       "\"\n@dataclasses.dataclass\nclass ServerArgs:\n" +
                       rows("    a{0}: int = dataclasses.field(metadata={{'help': H}})\n", n);
              }),
      of_file("OptionsOfOneListOfChoices", "a.py", 500,
              [](size_t n) {
                return "import argparse\nC = [" + repeated("'choice', ", n) +
                       "]\np = argparse.ArgumentParser()\n" +
                       rows("p.add_argument('--a{0}', choices=C)\n", n);
              }),
      of_file("VariablesOfOneName", "a.py", 100,
              [](size_t n) {
                return "import os\nN = \"" + repeated("NAME_", 40 * n) + "\"\n" +
                       rows("os.environ.get(N + 'a{0}')\n", n);
              }),
      of_file("RoutesOfOnePath", "a.py", 200,
              [](size_t n) {
                return "from fastapi import FastAPI\napp = FastAPI()\nP = \"/" +
                       repeated("path/", 40 * n) + "\"\n" +
                       rows("@app.get(P)\ndef f{0}(): pass\n", n);
              }),
      of_file("MethodsOfAClassWithALongName", "a.py", 200,
              [](size_t n) {
                return "class " + repeated("Name", 20 * n) + ":\n" +
                       rows("  def f{0}(self): self.f{0}()\n", n);
              }),
      of_file("CudaInStrings", "a.py", 300,
              [](size_t n) {
                return rows(
                    "S{0} = r\"\"\"\n__global__ void k{0}(int* a) {{ a[0] = {0}; }}\n"
                    "void f{0}(int* p) {{ k{0}<<<1, 2>>>(p); }}\n\"\"\"\n",
                    n);
              }),
      of_file("CudaStringsOfOneKernel", "a.py", 300,
              [](size_t n) {
                return rows(
                    "S{0} = r\"\"\"\n__global__ void k(int* a) {{ a[0] = {0}; }}\n"
                    "void f(int* p) {{ k<<<1, 2>>>(p); }}\n\"\"\"\n",
                    n);
              }),
      // An import looks at the 256 nearest files of its name.
      of_files("ModulesOfOneName", "d{0}/m.py", 300,
               "from m import f\nimport m\ndef f(x):\n  return m.f({0})\n"),
  };
}

// One name that many files, classes or modules have.
std::vector<LinearCase> one_name() {
  const std::string jit = "import triton\nimport triton.language as tl\n@triton.jit\n";
  return {
      of_file("OverloadsWithACallerEach", "a.cu", 600,
              [](size_t n) {
                return rows(
                           "void run(T{0} p) {{ k<<<1, 2>>>(p); }}\n"
                           "void f{0}(float* p) {{ run(p); }}\n",
                           n) +
                       "__global__ void k(float* a) { a[0] = 1; }\n";
              }),
      of_sets("MethodsOfOneName",
              {{"d/f{0}.cu",
                "__global__ void k{0}(float* a) {{ a[threadIdx.x] = 1; }}\n"
                "struct R{0} : Base {{ void run(float* p) {{ k{0}<<<1, 2>>>(p); }} }};\n"},
               {"e/f{0}.cpp", "void go{0}(Base* b, float* p) {{ b->run(p); }}\n"}},
              200),
      of_sets("StarImportsOfAPackage",
              {{"pkg/k{0}.py", jit + "def k{0}(x):\n  tl.store(x, 1)\n"},
               {"use{0}.py", "from pkg import *\ndef f(x):\n  k{0}[(1,)](x)\n"}},
              400,
              {{"pkg/__init__.py", [](size_t n) { return rows("from .k{0} import *\n", n); }}}),
      {"StarImportsOfEachOther",
       [](const std::filesystem::path& directory, size_t n) {
         const auto modules = static_cast<size_t>(std::sqrt(n));
         std::string imports = rows("from m{} import *\n", modules);
         for (size_t i = 0; i < modules; ++i) {
           write_file(directory / "repo" / fmt::format("m{}.py", i),
                      imports + fmt::format("def f{0}(x):\n  return f{1}(x) + none_{0}(x)\n"
                                            "class C{0}(C{1}):\n  pass\n",
                                            i, (i + 3) % modules));
         }
       },
       "scan repo --out out", 2500},
      of_file("ClassesThatInheritFromEachOther", "a.py", 12000,
              [](size_t n) {
                const auto classes = static_cast<size_t>(std::sqrt(n));
                std::string bases, code;
                for (size_t i = 0; i < classes; ++i)
                  bases += fmt::format("{}C{}", i == 0 ? "" : ", ", i);
                for (size_t i = 0; i < classes; ++i) {
                  code += fmt::format("class C{}({}):\n  def f(self): self.lost(); self.gone.g()\n",
                                      i, bases);
                }
                return code;
              }),
      of_file("ImportsInEachCell", "a.ipynb", 400,
              [](size_t n) {
                std::string cells;
                for (size_t i = 0; i < n; ++i) {
                  cells +=
                      fmt::format(R"({}{{"cell_type": "code", "source": ["import torch\n", )"
                                  R"("from utils import help\n", "def f{}(x: torch.Tensor):\n", )"
                                  R"("  return help(torch.ones(x))\n"]}})",
                                  i == 0 ? "" : ",", i);
                }
                return R"({"cells": [)" + cells + "]}";
              }),
      of_sets("ExtensionsOfOneFunction",
              {{"d{0}/ext.cu",
                "__global__ void k{0}(float* a) {{ a[threadIdx.x] = 1; }}\n"
                "static void fwd(float* p) {{ k{0}<<<1, 2>>>(p); }}\n"
                "PYBIND11_MODULE(ext{0}, m) {{ m.def(\"fwd\", &fwd); }}\n"},
               {"d{0}/use.py", "import ext{0}\ndef f(x):\n  return ext{0}.fwd(x)\n"}},
              500),
  };
}

// What is opened and never closed, and what only begins.
std::vector<LinearCase> broken_code() {
  const std::pair<const char*, std::string> pieces[] = {
      {"OpenBrackets", "(((((("},     {"BracesAndAngles", "{<{<"},
      {"OpenAngles", "a<a<"},         {"OpenConditions", "#if x\n{\n"},
      {"Typedefs", "typedef "},       {"OpenFunctions", "f(){"},
      {"Assignments", "x=y="},        {"Members", "a.b="},
      {"OpenTemplates", "template<"}, {"OpenBranches", "#if A\n(\n#else\n"},
      {"OpenLaunches", "K<<<"},       {"OpenParameters", "void f("},
      {"ClosingBrackets", "}])"},
  };
  std::vector<LinearCase> out;
  for (const auto& [name, piece] : pieces) {
    out.push_back(of_made_file(name, "a.cu", 100'000 / piece.size(),
                               [piece = piece](size_t n) { return repeated(piece, n); }));
  }
  return out;
}

// What data/kernels recognises.
std::vector<LinearCase> other_languages() {
  return {
      of_file(
          "OpenClKernels", "a.cl", 2000,
          [](size_t n) { return rows("kernel void k{0}(global float* x) {{ x[0] = 1; }}\n", n); }),
      of_file("OpenClKernelsThatAreOpen", "a.cl", 2000,
              [](size_t n) { return repeated("kernel void k(", n); }),
      of_file("WordsOfAShader", "a.wgsl", 10000, [](size_t n) { return repeated("@compute ", n); }),
      of_file("SyclLaunchesInOthers", "a.cpp", 1000,
              [](size_t n) {
                return "// sycl\nvoid f() {" + repeated("q.parallel_for(r, [=](int i) {", n);
              }),
      of_file("SyclLaunchesAsArguments", "a.cpp", 1000,
              [](size_t n) {
                return "// sycl\nvoid f() {" + repeated("q.parallel_for([=](", n) +
                       repeated(")", 2 * n);
              }),
      of_file("StringsWithKernels", "a.cpp", 1000,
              [](size_t n) {
                return rows("const char* s{0} = \"__global__ void k{0}() {{\\n}}\";\n", n);
              }),
      of_file("KernelsMadeByCalls", "a.py", 500,
              [](size_t n) {
                return rows("def f{0}():\n  def k(x): pass\n  pl.pallas_call(k)(x)\n", n);
              }),
      of_file("KernelsInOneVariable", "a.py", 300,
              [](size_t n) {
                return "import cupy\n" +
                       rows(
                           "k = cupy.ElementwiseKernel('', 'T y', 'y = 1', 'k{0}')\n"
                           "r = cupy.RawKernel(TEXT, 'r{0}')\n"
                           "def f{0}(x):\n  k(x)\n  r((1,), (1,), (x,))\n",
                           n);
              }),
      of_file("KernelsInAMemberOfManyClasses", "a.py", 300,
              [](size_t n) {
                return "import cupy\n" +
                       rows(
                           "class C{0}:\n"
                           "  def __init__(self): self.k = cupy.RawKernel(TEXT, 'k{0}')\n"
                           "  def run(self, x): self.k((1,), (1,), (x,))\n",
                           n);
              }),
      of_file("KernelsInOneDictionary", "a.py", 300,
              [](size_t n) {
                return "import cupy\nK = {\n" + rows("'k{0}': cupy.RawKernel(TEXT, 'k{0}'),\n", n) +
                       "}\n" + rows("def f{0}(x): K['k{0}']((1,), (1,), (x,))\n", n);
              }),
      of_file("LookupsOfOneHandle", "a.cu", 300,
              [](size_t n) {
                return "CUfunction f;\nvoid run(CUmodule m, void** a, int i) {\n" +
                       rows("  if (i == {0}) cuModuleGetFunction(&f, m, \"k{0}\");\n", n) +
                       rows("  cuLaunchKernel(f, {0}, 1, 1, 1, 1, 1, 0, 0, a, 0);\n", n) + "}\n" +
                       rows(
                           "void l{0}(void** a) {{ cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, a, "
                           "0); }}\n",
                           n);
              }),
      of_file("BranchesOfOneMacro", "a.cu", 300,
              [](size_t n) {
                return rows("__global__ void k{0}(float* x) {{ x[0] = {0}; }}\n", n) + "#if X\n" +
                       rows("#elif Y == {0}\n#define K k{0}\n", n) + "#endif\n" +
                       rows("void l{0}(float* x) {{ K<<<{0}, 1>>>(x); }}\n", n);
              }),
      of_file("ListsOfKernels", "a.cu", 200,
              [](size_t n) {
                return "#define DEFINE(n) __global__ void n##_k(float* x) { x[0] = 1; }\n#define "
                       "LIST(X) " +
                       rows("X(a{0}) ", n) +
                       "\nLIST(DEFINE)\n#define LAUNCH(n) n##_k<<<1, 1>>>(x);\n" +
                       "void run(float* x) { LIST(LAUNCH) }\n";
              }),
      of_file("MarkedMacros", "a.cu", 1000,
              [](size_t n) {
                return rows("A_KERNEL void k{0}(float* x) {{ x[threadIdx.x] = 1; }}\n", n);
              }),
  };
}

}  // namespace

std::vector<LinearCase> scan_cases() {
  std::vector<LinearCase> all;
  for (const auto& part : {kernels_and_launches(), expressions_and_names(), python_code(),
                           one_name(), broken_code(), other_languages()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace fathom::test
