// The tree of a C++ body: what each piece of code becomes, and that its tokens are exact.
#include <array>

#include "checks.h"
#include "scan/cpp/tree/code_tree.h"

namespace fathom {
namespace {

const char* name_of(CodeKind kind) {
  constexpr std::array<const char*, 34> names = {
      "name",   "number",    "literal", "call",     "launch",     "subscript", "member",
      "unary",  "postfix",   "binary",  "assign",   "choice",     "cast",      "list",
      "lambda", "unknown",   "block",   "declare",  "declarator", "statement", "if",
      "for",    "range-for", "while",   "switch",   "case",       "try",       "catch",
      "return", "jump",      "class",   "branches", "branch",     "other"};
  return names[static_cast<size_t>(kind)];
}

// (kind "tokens" children …), for what lies in a body's braces.
void add_shape(const CodeTree& tree, uint32_t id, std::string& out) {
  const CodeNode& node = tree[id];
  out += "(" + std::string(name_of(node.kind));
  if (node.children.empty()) out += " `" + tree.tokens->source(node.first, node.last) + "`";
  for (const uint32_t child : node.children) {
    out += " ";
    add_shape(tree, child, out);
  }
  out += ")";
}

std::string shape(const std::string& statements) {
  const CodeTree tree = read_code("{" + statements + "}", 1);
  std::string out;
  for (const uint32_t child : tree[tree.root].children) add_shape(tree, child, out);
  return out;
}

// The source of the nodes of a kind.
std::vector<std::string> sources(const std::string& statements, CodeKind kind) {
  const CodeTree tree = read_code("{" + statements + "}", 1);
  std::vector<std::string> out;
  for (const CodeNode& node : tree.nodes) {
    if (node.kind == kind) out.push_back(tree.tokens->source(node.first, node.last));
  }
  return out;
}

TEST(CodeTree, BranchesOfAnIfdefAreNodesAndMayShareABrace) {
  EXPECT_EQ(
      shape("\n#if A\nf();\n#else\ng();\n#endif\n"),
      "(branches (branch (statement (call (name `f`)))) (branch (statement (call (name `g`)))))");
  EXPECT_EQ(shape("\n#if A\nif (x) {\n#else\nif (y) {\n#endif\nf(); }"),
            "(branches (branch (if (name `x`) (block (statement (call (name `f`)))))))");
  EXPECT_EQ(shape("if (a) f();\n#if X\nelse g();\n#endif\nh();"),
            "(if (name `a`) (statement (call (name `f`))) (branches (branch (statement (call (name "
            "`g`))))))(statement (call (name `h`)))");
}

TEST(CodeTree, MacrosWithBlocksAndWithoutSemicolons) {
  EXPECT_EQ(
      shape("LOOP(i, n) { f(i); }\ng();"),
      "(statement (call (name `LOOP`) (name `i`) (name `n`)) (block (statement (call (name `f`) "
      "(name `i`)))))(statement (call (name `g`)))");
  EXPECT_EQ(
      shape("DISPATCH(n, { f(); });"),
      "(statement (call (name `DISPATCH`) (name `n`) (block (statement (call (name `f`))))))");
  EXPECT_EQ(shape("CHECK(x)\nf();"),
            "(statement (call (name `CHECK`) (name `x`)))(statement (call (name `f`)))");
  // A list is none.
  EXPECT_EQ(shape("f({a, b});"), "(statement (call (name `f`) (list (name `a`) (name `b`))))");
}

TEST(CodeTree, DeclarationsOfAllSpellings) {
  for (const char* text :
       {"extern __shared__ __attribute__((aligned(16))) uint8_t x[];",
        "__shared__ int __attribute((aligned(8))) x[4];", "[[maybe_unused]] constexpr int x = 1;",
        "ALIGNED __shared__ float x[2];", "decltype(a) x = b;", "T::template U<V> x(1);",
        "void (*x)(int) = f;", "__shared__ union { int a; } x;", "auto* const x = p;"}) {
    const std::vector<std::string> found = sources(text, CodeKind::kDeclarator);
    ASSERT_EQ(found.size(), 1u) << text;
  }
  for (const char* text :
       {"delete x;", "a * b + c;", "f(x);", "goto x;", "throw x;", "a < b > (c);"})
    EXPECT_TRUE(sources(text, CodeKind::kDeclarator).empty()) << text;
}

TEST(CodeTree, BracketsBelongToWhatTheyHold) {
  EXPECT_EQ(sources("x = (a + b) * c;", CodeKind::kBinary),
            (std::vector<std::string>{"(a + b)", "(a + b) * c"}));
  EXPECT_EQ(sources("y = ((float*)p)[i];", CodeKind::kSubscript),
            (std::vector<std::string>{"((float*)p)[i]"}));
}

TEST(CodeTree, LaunchesAndTemplates) {
  EXPECT_EQ(shape("k<int, 4><<<g, b>>>(x);"),
            "(statement (call (launch (name `k<int, 4>`) (name `g`) (name `b`)) (name `x`)))");
  EXPECT_EQ(shape("return a < b && c > d;"),
            "(return (binary (binary (name `a`) (name `b`)) (binary (name `c`) (name `d`))))");
}

TEST(CodeTree, ALabelHoldsWhatFollowsIt) {
  EXPECT_EQ(shape("switch (x) { case 1: f(); break; default: g(); }"),
            "(switch (name `x`) (block (case (statement (call (name `f`))) (jump `break;`)) (case "
            "(statement (call (name `g`))))))");
  EXPECT_EQ(shape("goto done; f(); done: g();"),
            "(jump `goto done;`)(statement (call (name `f`)))(statement (call (name `g`)))");
}

// What is damaged costs what stands in it, not what follows.
TEST(CodeTree, DamageIsPassedOver) {
  for (const char* text : {"f(a b c); g();", "x = = 3; g();", "int 3x; g();", "else g();",
                           "catch g();", "case: g();", "x = [&] ( ; g();", "for (; g();"}) {
    const std::vector<std::string> calls = sources(text, CodeKind::kCall);
    EXPECT_TRUE(!calls.empty() && calls.back().starts_with("g(")) << text;
  }
}

}  // namespace
}  // namespace fathom
