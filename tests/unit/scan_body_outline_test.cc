#include <fmt/format.h>

#include "checks.h"
#include "scan/cpp/body_outline.h"
#include "scan/python/body_outline.h"

namespace fathom {
namespace {

const char* kind_name(StatementKind kind) {
  constexpr const char* names[] = {"plain",  "if",   "else if", "else",  "loop",  "switch",
                                   "case",   "try",  "catch",   "with",  "code",  "definition",
                                   "return", "jump", "throw",   "check", "alias", "#"};
  return names[static_cast<size_t>(kind)];
}

// One line for each statement: indented, "kind: text @first-last".
std::string lines_of(const std::vector<Statement>& statements) {
  std::string out;
  for (const Statement& s : statements) {
    out += fmt::format("{}{}: {} @{}-{}{}{}\n", std::string(2 * s.depth, ' '), kind_name(s.kind),
                       s.text, s.line_first, s.line_last, s.unrolled ? " unrolled" : "",
                       s.compile_time ? " compiled" : "");
  }
  return out;
}

std::vector<Statement> statements_of(const std::string& code) {
  const cpp::TokenList source = cpp::lex(code);
  const cpp::Brackets brackets(source);
  size_t open = 0;
  while (open < source.size() && !source.is(open, "{")) ++open;
  const size_t close = brackets.closed(open) ? brackets.partner(open) : source.size();
  return cpp::outline_body(read_statements({source, brackets}, open + 1, close));
}

std::string outline(const std::string& code) { return lines_of(statements_of(code)); }

TEST(BodyOutline, GuardsElseBranchesAndEarlyReturn) {
  EXPECT_EQ(outline("void f() {\n"
                    "  if (warp >= warps) return;\n"
                    "  if constexpr (kUsePDL) {\n"
                    "    wait();\n"
                    "  } else if (n > 0)\n"
                    "    x = 1;\n"
                    "  else {\n"
                    "    x = 2;\n"
                    "  }\n"
                    "  done();\n"
                    "}\n"),
            "if: if (warp >= warps) @2-2\n"
            "  return: return @2-2\n"
            "if: if constexpr (kUsePDL) @3-5 compiled\n"
            "  plain: wait() @4-4\n"
            "else if: else if (n > 0) @5-6\n"
            "  plain: x = 1 @6-6\n"
            "else: else @7-9\n"
            "  plain: x = 2 @8-8\n"
            "plain: done() @10-10\n");
}

TEST(BodyOutline, NestedLoopsWithAndWithoutBraces) {
  EXPECT_EQ(outline("void f() {\n"
                    "#pragma unroll 4\n"
                    "  for (int i = 0; i < kLoops; ++i) {\n"
                    "    for (int j = 0; j < 8; ++j) sum += x[i][j];\n"
                    "    while (more()) step();\n"
                    "  }\n"
                    "  CUTLASS_PRAGMA_UNROLL\n"
                    "  for (auto& v : values) v = 0;\n"
                    "}\n"),
            "loop: for (int i = 0; i < kLoops; ++i) @3-6 unrolled\n"
            "  loop: for (int j = 0; j < 8; ++j) @4-4\n"
            "    plain: sum += x[i][j] @4-4\n"
            "  loop: while (more()) @5-5\n"
            "    plain: step() @5-5\n"
            "loop: for (auto& v : values) @8-8 unrolled\n"
            "  plain: v = 0 @8-8\n");
}

TEST(BodyOutline, DoWhileAndSwitch) {
  EXPECT_EQ(outline("void f() {\n"
                    "  do {\n"
                    "    step();\n"
                    "  } while (n > 0);\n"
                    "  switch (kind) {\n"
                    "    case Kind::kOne:\n"
                    "      a();\n"
                    "      break;\n"
                    "    default: b();\n"
                    "  }\n"
                    "  if (x) do y(); while (z);\n"
                    "  after();\n"
                    "}\n"),
            "loop: do … while (n > 0) @2-4\n"
            "  plain: step() @3-3\n"
            "switch: switch (kind) @5-10\n"
            "  case: case Kind::kOne @6-8\n"
            "    plain: a() @7-7\n"
            "    jump: break @8-8\n"
            "  case: default @9-10\n"
            "    plain: b() @9-9\n"
            "if: if (x) @11-11\n"
            "  loop: do … while (z) @11-11\n"
            "    plain: y() @11-11\n"
            "plain: after() @12-12\n");
}

TEST(BodyOutline, LambdasAndMacrosWithBlocks) {
  EXPECT_EQ(outline("void f() {\n"
                    "  const auto start = [&](int n) {\n"
                    "    copy(n);\n"
                    "  };\n"
                    "  AT_DISPATCH(type, \"name\", [&] {\n"
                    "    launch();\n"
                    "  });\n"
                    "  DISPATCH_BOOL(flag, kFlag, {\n"
                    "    run<kFlag>();\n"
                    "  })\n"
                    "  CHECK_SHAPE(x)\n"
                    "  const Params p{.a = 1, .b = 2};\n"
                    "  owner = {pointer, [](int* q) { release(q); }};\n"
                    "}\n"),
            "definition: const auto start = [&](int n) … @2-4\n"
            "  plain: copy(n) @3-3\n"
            "code: AT_DISPATCH(type, \"name\", [&] … @5-7\n"
            "  plain: launch() @6-6\n"
            "code: DISPATCH_BOOL(flag, kFlag, … @8-10\n"
            "  plain: run<kFlag>() @9-9\n"
            "plain: CHECK_SHAPE(x) @11-11\n"
            "plain: const Params p{.a = 1, .b = 2} @12-12\n"
            "definition: owner = {pointer, [](int* q) … @13-13\n"
            "  plain: release(q) @13-13\n");
}

TEST(BodyOutline, DirectivesAreBranchesAndMayShareABrace) {
  EXPECT_EQ(outline("void f() {\n"
                    "#ifdef FAST\n"
                    "  a();\n"
                    "#else\n"
                    "  b();\n"
                    "#endif\n"
                    "#if X\n"
                    "  if (x) {\n"
                    "#else\n"
                    "  if (y) {\n"
                    "#endif\n"
                    "    c();\n"
                    "  }\n"
                    "  d();\n"
                    "}\n"),
            "#: #ifdef FAST @2-4\n"
            "  plain: a() @3-3\n"
            "#: #else @4-6\n"
            "  plain: b() @5-5\n"
            "#: #if X @7-13\n"
            "  if: if (x) @8-13\n"
            "    plain: c() @12-12\n"
            "plain: d() @14-14\n");
}

TEST(BodyOutline, ChecksAliasesThrowsAndTry) {
  EXPECT_EQ(outline("void f() {\n"
                    "  static_assert(kN % 32 == 0);\n"
                    "  using T = float;\n"
                    "  [[likely]] x = 1;\n"
                    "  if (bad) throw Error{\"no\"};\n"
                    "  try { a(); } catch (const E& e) { b(); }\n"
                    "again:\n"
                    "  goto again;\n"
                    "}\n"),
            "check: static_assert(kN % 32 == 0) @2-2\n"
            "alias: using T = float @3-3\n"
            "plain: x = 1 @4-4\n"
            "if: if (bad) @5-5\n"
            "  throw: throw Error{\"no\"} @5-5\n"
            "try: try @6-6\n"
            "  plain: a() @6-6\n"
            "catch: catch (const E& e) @6-6\n"
            "  plain: b() @6-6\n"
            "jump: goto again @8-8\n");
}

TEST(BodyOutline, AnyTokensGiveAList) {
  for (const char* code : {"{",
                           "{ if",
                           "{ if (",
                           "{ else",
                           "{ } }",
                           "{ for (;;) ",
                           "{ do",
                           "{ case",
                           "{ case 1",
                           "{ ( [ {",
                           "{ x = [&] { ; }",
                           "{ #if\n",
                           "{\n#else\n}",
                           "{\n#endif\n}",
                           "{ switch (x) { case 1: case 2: ",
                           "{ if (a) if (b) else",
                           "{ catch",
                           "{ [[",
                           "{ MACRO(",
                           "{ do x; while",
                           "{ ; ; ; }"}) {
    outline(code);  // must not crash, loop or read beyond the end
  }
  EXPECT_EQ(outline("void f() { a(); } } b();"), "plain: a() @1-1\n");
}

// What lies deeper than trees are read is one statement.
TEST(BodyOutline, DepthIsNoDanger) {
  constexpr size_t kRead = 50, kDeep = 200000;
  for (const size_t deep : {kRead, kDeep}) {
    std::string ifs = "void f() {", braces = "void f() {", lambdas = "void f() {",
                brackets = "void f() { x = ";
    for (size_t i = 0; i < deep; ++i) {
      ifs += "if(a)";
      braces += "if(a){";
      lambdas += i < kRead / 2 || deep > kRead ? "g([&]{h();" : "";
      brackets += "(";
    }
    const size_t in_ifs = statements_of(ifs + "x();}").size(),
                 in_braces = statements_of(braces).size();
    if (deep == kRead) {
      EXPECT_EQ(in_ifs, kRead + 1);
      EXPECT_EQ(in_braces, kRead);
    } else {
      EXPECT_GT(in_ifs, 100u);
      EXPECT_GT(in_braces, kRead);
    }
    EXPECT_GT(statements_of(lambdas).size(), 30u) << "never closed";
    for (size_t i = 0; i < deep; ++i) lambdas += i < kRead / 2 || deep > kRead ? "});" : "";
    EXPECT_GE(statements_of(lambdas + "}").size(), 30u);
    statements_of(brackets);
  }
}

std::string python_outline(const std::string& text, uint32_t line) {
  const python::Tree tree = python::parse(text);
  const auto nodes = python::functions_by_line(tree);
  const auto node = nodes.find(line);
  return lines_of(
      python::outline_function(tree, node == nodes.end() ? python::NodeId{} : node->second));
}

TEST(PythonBodyOutline, StatementsInOrder) {
  const std::string text =
      "import x\n"
      "@triton.jit\n"
      "def kernel(a, n: tl.constexpr):\n"
      "    \"\"\"Doc.\"\"\"\n"
      "    assert n > 0\n"
      "    pid = tl.program_id(0)\n"
      "    if pid >= n:\n"
      "        return\n"
      "    elif even:\n"
      "        a = 1\n"
      "    else:\n"
      "        a = 2\n"
      "    for k in range(0,\n"
      "                   n):\n"
      "        acc += tl.dot(a, b)\n"
      "    with stream:\n"
      "        try:\n"
      "            go()\n"
      "        except Error as e:\n"
      "            raise\n"
      "    def inner():\n"
      "        pass\n"
      "    return acc\n";
  const std::string wanted =
      "check: assert n > 0 @5-5\n"
      "plain: pid = tl.program_id(0) @6-6\n"
      "if: if pid >= n @7-8\n"
      "  return: return @8-8\n"
      "else if: elif even @9-10\n"
      "  plain: a = 1 @10-10\n"
      "else: else @11-12\n"
      "  plain: a = 2 @12-12\n"
      "loop: for k in range(0, n) @13-15\n"
      "  plain: acc += tl.dot(a, b) @15-15\n"
      "with: with stream @16-20\n"
      "  try: try @17-20\n"
      "    plain: go() @18-18\n"
      "  catch: except Error as e @19-20\n"
      "    throw: raise @20-20\n"
      "definition: def inner @21-22\n"
      "return: return acc @23-23\n";
  EXPECT_EQ(python_outline(text, 3), wanted);
  EXPECT_EQ(python_outline(text, 2), wanted) << "by its decorator";
  EXPECT_EQ(python_outline(text, 1), "");
}

TEST(PythonBodyOutline, DamageIsPassedOver) {
  for (const char* text :
       {"def f(:\n  x = \n", "def f():\n", "def f(): return (\n", "def f():\n  if :\n    x\n"}) {
    python_outline(text, 1);
  }
  EXPECT_EQ(python_outline("def f(): x = 1; return x\n", 1),
            "plain: x = 1 @1-1\nreturn: return x @1-1\n");
}

}  // namespace
}  // namespace fathom
