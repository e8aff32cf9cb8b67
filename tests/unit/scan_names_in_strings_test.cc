#include "checks.h"
#include "scan/names_in_strings.h"

namespace fathom {
namespace {

const Names kNamedKernels = {"gather_rows_kernel", "kernel_gemm_m1", "kernel_gemm_m16", "short_k",
                             "rows.cu"};

Names in_python(std::string_view text) {
  NamesInStrings found;
  find_names_in_strings(python::lex(text), WantedNames(kNamedKernels), found);
  return found.names;
}

Names in_cpp(std::string_view text) {
  NamesInStrings found;
  find_names_in_strings(cpp::lex(text), WantedNames(kNamedKernels), found);
  return found.names;
}

TEST(NamesInStrings, WholeWordsOfLiterals) {
  EXPECT_EQ(in_cpp("load(\"gather_rows_kernel\"); // \"short_k\"\nshort_k();"),
            Names{"gather_rows_kernel"});
  EXPECT_EQ(in_cpp("load(\"gather_rows_kernel_old\", \"my_short_k\");"), Names{});
  EXPECT_EQ(in_python("load('gather_rows_kernel<int>')\nshort_k()  # 'short_k'\n"),
            Names{"gather_rows_kernel"});
}

// A file that is read as text is compiled when the program runs; a list of sources is built.
TEST(NamesInStrings, FilesThatAreReadAsText) {
  EXPECT_EQ(in_python("code = (here / 'rows.cu').read_text()\n"), Names{"rows.cu"});
  EXPECT_EQ(in_python("code = open('csrc/rows.cu').read()\n"), Names{"rows.cu"});
  EXPECT_EQ(in_python("Extension('x', ['csrc/rows.cu'])\n"), Names{});
  EXPECT_EQ(in_cpp("compile(\"csrc/rows.cu\", \"other.cu\");"), Names{"rows.cu"});
  EXPECT_EQ(in_cpp("compile(\"csrc/rows.cuh\", \"my_rows.cu\");"), Names{});
}

using LinesByName = std::map<std::string, uint32_t, std::less<>>;

// Code that is generated names what it runs; a message does not.
TEST(NamesInStrings, GeneratedCodeInstantiatesThem) {
  const auto alone = [](std::string_view text) {
    NamesInStrings found;
    find_names_in_strings(python::lex(text), WantedNames(kNamedKernels), found);
    return found.alone;
  };
  EXPECT_EQ(alone("code = f\"\"\"\nauto p = (void*)&gather_rows_kernel<{n}>;\n\"\"\"\n"),
            (LinesByName{{"gather_rows_kernel", 2}}));
  EXPECT_EQ(alone("code = f'short_k<{n}>'\n"), (LinesByName{{"short_k", 1}}));
  EXPECT_EQ(alone("print('gather_rows_kernel failed', 'the short_k')\n"), LinesByName{});
}

TEST(NamesInStrings, RustLooksThemUp) {
  NamesInStrings found;
  find_names_in_rust_strings(
      "// \"kernel_gemm_m1\"\nlet q = '\"';\nlet f = dev.load(\"short_k\", &K)?;\n"
      "let g = \"a \\\" kernel_gemm_m16\";\nfn h<'a>(x: &'a str) {}\n",
      WantedNames(kNamedKernels), found);
  EXPECT_EQ(found.alone, (LinesByName{{"short_k", 3}}));
  EXPECT_EQ(found.names, (Names{"kernel_gemm_m16", "short_k"}));
}

TEST(NamesInStrings, LiteralsSideBySideAreOne) {
  EXPECT_EQ(in_python("load('gather_rows'\n     '_kernel')\n"), Names{"gather_rows_kernel"});
  EXPECT_EQ(in_python("load('gather_rows', '_kernel')\n"), Names{});
}

TEST(NamesInStrings, DocstringsAreProse) {
  EXPECT_EQ(in_python("def f():\n    \"\"\"Runs gather_rows_kernel.\"\"\"\n"), Names{});
  EXPECT_EQ(in_python("\"\"\"gather_rows_kernel\"\"\"\nx = \"short_k\"\n"), Names{"short_k"});
}

TEST(NamesInStrings, FieldsStandForAnyText) {
  EXPECT_EQ(in_python("load(f'kernel_gemm_m{m}')\n"), (Names{"kernel_gemm_m1", "kernel_gemm_m16"}));
  EXPECT_EQ(in_python("load(f'kernel_gemm_m{m}6')\n"), Names{"kernel_gemm_m16"});
  EXPECT_EQ(in_python("load(f'{name}_m1', f'k{x}')\n"), Names{});  // could be anything
  EXPECT_EQ(in_python("load(f'{x} short_k')\n"), Names{"short_k"});
}

}  // namespace
}  // namespace fathom
