#include <string>

#include "checks.h"
#include "scan/cpp/cpp_file.h"
#include "scan/cpp/plain_spelling.h"

namespace fathom::cpp {
namespace {

// Each token with its line: "void@2".
std::string tokens(const std::string& text) {
  const std::string plain = plain_spelling(text);
  EXPECT_EQ(plain.size(), text.size());
  const TokenList list = lex(plain);
  std::string out;
  for (size_t i = 0; i < list.size(); ++i) {
    out +=
        (i == 0 ? "" : " ") + std::string(list.at(i)) + "@" + std::to_string(list.tokens[i].line);
  }
  return out;
}

TEST(ScanCppSpelling, NamesAndSignsSplitOverLines) {
  EXPECT_EQ(tokens("__glo\\\nbal__ void k();"), "__global__@1 void@2 k@2 (@2 )@2 ;@2");
  EXPECT_EQ(tokens("__glo\\\r\nbal__ x"), "__global__@1 x@2");
  EXPECT_EQ(tokens("a\\\nb\\\n\\\nc\nd"), "abc@1 d@5");
  EXPECT_EQ(tokens("k<<\\\n<1"), "k@1 <<<@1 1@2");
  EXPECT_EQ(tokens("a/\\\n/b\nc"), "a@1 c@3");
  EXPECT_EQ(tokens("a/\\\n*b*\\\n/c"), "a@1 c@3");
}

// Formatters part the sign of a launch.
TEST(ScanCppSpelling, PartedLaunchSigns) {
  EXPECT_EQ(tokens("k << <1"), "k@1 <<<@1 1@1");
  EXPECT_EQ(tokens("k < < < grid"), "k@1 <<<@1 grid@1");
  EXPECT_EQ(tokens("a < b << c"), "a@1 <@1 b@1 <@1 <@1 c@1");
}

TEST(ScanCppSpelling, LinesThatOnlyGoOnStay) {
  const std::string text =
      "#define A(x) \\\n  f(x); \\\n  g(x)\nB \\\nC\nchar* s = \"a \\\n b\";\n\\";
  EXPECT_EQ(plain_spelling(text), text);
  EXPECT_EQ(tokens("A \\\nB"), "A@1 B@2");
  EXPECT_EQ(tokens("A\\\n B"), "A@1 B@2");
}

TEST(ScanCppSpelling, Digraphs) {
  EXPECT_EQ(tokens("void f() <% a<:1:> = 2; %>"),
            "void@1 f@1 (@1 )@1 {@1 a@1 [@1 1@1 ]@1 =@1 2@1 ;@1 }@1");
  EXPECT_EQ(tokens("%:define A\nb"), "# define A@1 b@2");
  EXPECT_EQ(tokens("a %:%: b"), "a@1 ##@1 b@1");
}

TEST(ScanCppSpelling, NamesOfHip) {
  EXPECT_EQ(plain_spelling("x[hipBlockIdx_x * N + hipThreadIdx_y];"),
            "x[blockIdx.x    * N + threadIdx.y   ];");
  const std::string others = "hipThreadIdx_w my_hipThreadIdx_x hipThreadIdx_x2 hipMalloc hip";
  EXPECT_EQ(plain_spelling(others), others);
}

TEST(ScanCppSpelling, DigraphsThatAreNone) {
  EXPECT_EQ(tokens("A<::B> a; x ? y<::z:>w"),  // <:: is < and ::
            "A@1 <@1 ::@1 B@1 >@1 a@1 ;@1 x@1 ?@1 y@1 <@1 ::@1 z@1 ]@1 w@1");
  EXPECT_EQ(tokens("printf(\"<%d>:>\"); // <% a\n/* <: :> */ a % b"),
            "printf@1 (@1 \"<%d>:>\"@1 )@1 ;@1 a@2 %@2 b@2");
}

}  // namespace
}  // namespace fathom::cpp
