// The lexer and the parser, through the functions, classes and calls that they find.
#include "checks.h"
#include "scan/python/ast.h"
#include "scan/python/python_file.h"

namespace fathom::python {
namespace {

// "callee@first-last" of every call, in order of the file's functions, those of the module last.
std::string calls_of(const PythonFile& file) {
  std::string out;
  const auto add = [&](const std::vector<Call>& calls) {
    for (const Call& call : calls) {
      if (!out.empty()) out += ' ';
      out += call.callee + "@" + std::to_string(call.line_first);
      if (call.line_last != call.line_first) out += "-" + std::to_string(call.line_last);
    }
  };
  for (const Function& function : file.functions) add(function.calls);
  add(file.module_calls);
  return out;
}

std::string calls_in(std::string_view text) {
  const PythonFile file = read_python(text);
  return (file.damaged ? "damaged " : "") + calls_of(file);
}

TEST(ScanPythonParser, EveryKindOfStringHidesWhatItHolds) {
  EXPECT_EQ(calls_in("a('b()', \"c()\", r'\\\\', b'd()', Rb\"e()\", u'f(\\')')"), "a@1");
  EXPECT_EQ(calls_in("a('''b()\n'c()' \\''' ''')\nd()"), "a@1-2 d@3");
  EXPECT_EQ(calls_in("x = 'a' \\\n  'b()'\nc()  # d()\n\"\"\"e()\"\"\""), "c@3");
}

TEST(ScanPythonParser, FieldsOfFStringsAreCode) {
  EXPECT_EQ(calls_in("f'{a()}{{b()}}{c(\"d\")!r:>{e()}}'"), "a@1 c@1 e@1");
  EXPECT_EQ(calls_in("x = f'''{\n  a()\n}''' rf\"\\{b()}\" f'{c():%H:%M}'"), "a@2 b@3 c@3");
  EXPECT_EQ(calls_in("f\"{a(\"x\")} {f'{b(f\"{c()}\")}'}\""), "a@1 b@1 c@1") << "as since 3.12";
  EXPECT_EQ(calls_in("f'{a()=} {b() != 1} {(lambda: c())()} {d[\"k\":2]}'"),
            "a@1 b@1 (lambda: c())@1 c@1");
  EXPECT_EQ(calls_in("f'\\N{DASH}{a()}'"), "a@1");
}

TEST(ScanPythonParser, LinesJoinInBracketsAndAfterABackslash) {
  EXPECT_EQ(calls_in("a(\n  1,  # )\n  b(\n),\n)\nc \\\n  (1)"), "a@1-5 b@3-4 c@6-7");
  EXPECT_EQ(calls_in("a().b(\n).c()"), "a().b( ).c@1-2 a().b@1-2 a@1");
}

TEST(ScanPythonParser, SoftKeywordsAreNamesToo) {
  EXPECT_EQ(calls_in("match(x)\nmatch = case = type = 1\nmatch[0](a)\ntype(x)\nprint(match)"),
            "match@1 match[0]@3 type@4 print@5");
  EXPECT_EQ(calls_in("match f(x):\n  case A(b=1) | [C(), *_] if g():\n    h()\n  case {'k': D()}:\n"
                     "    pass\n  case (1 | 2) as n: i(n)\nj()"),
            "f@1 g@2 h@3 i@6 j@7")
      << "what looks like a call in a pattern is none";
  EXPECT_EQ(calls_in("type X[T] = list[f(T)]\ntype = 3"), "f@1");
}

TEST(ScanPythonParser, ExpressionsOfEveryKind) {
  EXPECT_EQ(calls_in("if (n := a()) > 1 and not b(): c(*d(), k=e(), **f())"),
            "a@1 b@1 c@1 d@1 e@1 f@1");
  EXPECT_EQ(calls_in("[a(x) for x in b() if c() for y in (d() or e())]"), "a@1 b@1 c@1 d@1 e@1");
  EXPECT_EQ(calls_in("x = a() if b() else lambda q=c(), *r: d()"), "a@1 b@1 c@1 d@1");
  EXPECT_EQ(calls_in("x[a():b(), ...] = -c() ** d() @ e()"), "a@1 b@1 c@1 d@1 e@1");
  EXPECT_EQ(calls_in("{**a(), b(): c()}; {d(), *e()}; (yield f())"), "a@1 b@1 c@1 d@1 e@1 f@1");
  EXPECT_EQ(calls_in("print(1if a()else 0x1for x in b())"), "print@1 a@1 b@1");
}

TEST(ScanPythonParser, StatementsOfEveryKind) {
  EXPECT_EQ(calls_in("async def f():\n  async with a() as b, (c()): await d()\n"
                     "  async for x in e(): pass\n  else: g()\n"),
            "a@2 c@2 d@2 e@3 g@4");
  EXPECT_EQ(
      calls_in("with (a() as b, c() as d,\n):\n  pass\nwith (e()): pass\nwith (f(), g()) as h: "
               "pass"),
      "a@1 c@1 e@4 f@5 g@5");
  EXPECT_EQ(calls_in("try: a()\nexcept* (B, c()) as d: e()\nelse: f()\nfinally: g()"),
            "a@1 c@2 e@2 f@3 g@4");
  EXPECT_EQ(calls_in("x: a() = b()\nx += c()\ndel d()[0]\nassert e(), f()\nraise g() from h()"),
            "a@1 b@1 c@2 d@3 e@4 f@4 g@5 h@5");
}

TEST(ScanPythonParser, ABlockEndsWithItsLastStatement) {
  const PythonFile file = read_python(
      "class A:\n\tdef f(self):\n\t\treturn '''\n\n'''\n\n\t# comment\n\n\tx = 1\n\n\nf()");
  ASSERT_EQ(file.functions.size(), 1u);
  EXPECT_EQ(file.functions[0].line_last, 5u);
  EXPECT_EQ(file.classes.at(0).line_last, 9u);
  EXPECT_FALSE(file.damaged);
}

TEST(ScanPythonParser, LineBreaksOfEverySystem) {
  EXPECT_EQ(calls_in("a()\r\nif x:\r\n  b(\r\n)\r\nc()"), "a@1 b@3-4 c@5");
  EXPECT_EQ(calls_in("a()\rb()"), "a@1 b@2");
  EXPECT_EQ(calls_in("\xEF\xBB\xBF"
                     "a()\n\f\nb()"),
            "a@1 b@3");
}

TEST(ScanPythonParser, DamageCostsOnlyItsStatement) {
  EXPECT_EQ(calls_in("a()\nb( $ )\nc()"), "damaged a@1 c@3");
  EXPECT_EQ(calls_in("print 'x', a()\nb()"), "damaged b@2");
  EXPECT_EQ(calls_in("def f(1):\n  a()\nb()"), "damaged a@2 b@3") << "the body is kept";
  EXPECT_EQ(calls_in("try:\n  a()\nexcept E, e:\n  b()\nc()"), "a@2 b@4 c@5");
  EXPECT_EQ(calls_in("x = 'open\na()"), "damaged a@2");
  EXPECT_EQ(calls_in("if x:\n      a()\n   b()\nc()"), "damaged a@2 b@3 c@4");
}

TEST(ScanPythonParser, AnOpenBracketEndsWhereTheNextStatementMustBegin) {
  const PythonFile file = read_python("x = foo(1,\n\ndef f():\n  a()\n\nclass B:\n  pass\n");
  EXPECT_TRUE(file.damaged);
  ASSERT_EQ(file.functions.size(), 1u);
  EXPECT_EQ(file.functions[0].line_last, 4u);
  EXPECT_EQ(file.classes.size(), 1u);
}

// Neither may crash or hang.
TEST(ScanPythonParser, NestingWithoutEndIsHarmless) {
  const size_t deep = 200000;
  for (const std::string piece :
       {"(",        "[",     "{",      "f'{",          "not ",     "-",
        "lambda:",  "a.b(",  "a[",     "x if y else ", "a()",      "a.b().",
        "a + b - ", "2 ** ", "await ", "f(lambda:",    "if x:\n",  "try:\n ",
        "@a\n",     "'''",   "\\\n",   "{x:",          "def f(a=", "match x:\n case ",
        "with (",   "elif ", "  \n\t"}) {
    std::string text;
    for (size_t i = 0; i < deep / piece.size() + 1; ++i) text += piece;
    const PythonFile file = read_python(text);
    EXPECT_LE(file.functions.size(), deep);
  }
  std::string blocks;
  for (size_t i = 0; i < 400; ++i) blocks += std::string(i, ' ') + "if x:\n";
  EXPECT_TRUE(read_python(blocks + std::string(400, ' ') + "a()\n").damaged);
  std::string tries;  // none of them has an except: no body may be parsed twice
  for (size_t i = 0; i < 90; ++i) tries += std::string(i, ' ') + "try:\n";
  EXPECT_EQ(calls_in(tries + std::string(90, ' ') + "a()\n"), "damaged a@91");
}

TEST(ScanPythonParser, LongChainsKeepTheEndOfTheCallee) {
  std::string chain = "x";
  for (int i = 0; i < 300; ++i) chain += ".step(" + std::to_string(i) + ")";
  const PythonFile file = read_python(chain + ".launch()");
  EXPECT_FALSE(file.damaged);
  ASSERT_EQ(file.module_calls.size(), 301u);
  EXPECT_TRUE(file.module_calls[0].callee.starts_with("…"));
  EXPECT_TRUE(file.module_calls[0].callee.ends_with(".step(299).launch"));
}

}  // namespace
}  // namespace fathom::python
