#include "sheets/python_literal.h"

#include "checks.h"

namespace fathom {
namespace {

TEST(PythonLiteral, ListsAreTuples) {
  EXPECT_EQ(python_literal("[]"), "()");
  EXPECT_EQ(python_literal("[1,2]"), "(1, 2)");
  EXPECT_EQ(python_literal("[[2,3],[],[4,5]]"), "((2, 3), (), (4, 5))");
}

TEST(PythonLiteral, ATupleOfOneHasAComma) {
  EXPECT_EQ(python_literal("[768]"), "(768,)");
  EXPECT_EQ(python_literal("[[768]]"), "((768,),)");
  EXPECT_EQ(python_literal("[[[]]]"), "(((),),)");
  EXPECT_EQ(python_literal("[\"a,b\"]"), "('a,b',)");
  EXPECT_EQ(python_literal("[[768],[\"a\"]]"), "((768,), ('a',))");
  EXPECT_EQ(python_literal("[[1,2],3]"), "((1, 2), 3)");
}

TEST(PythonLiteral, Words) {
  EXPECT_EQ(python_literal("[null,true,false]"), "(None, True, False)");
  EXPECT_EQ(python_literal("null"), "None");
}

TEST(PythonLiteral, FloatsAsPythonPrintsThem) {
  EXPECT_EQ(python_literal("[0.5,1.0,1e-5,100000.0]"), "(0.5, 1.0, 1e-05, 100000.0)");
  EXPECT_EQ(python_literal("[1e3]"), "(1000.0,)");
  EXPECT_EQ(python_literal("[1E16]"), "(1e+16,)");
  EXPECT_EQ(python_literal("[0.10]"), "(0.1,)");
  EXPECT_EQ(python_literal("[-0.0]"), "(-0.0,)");
  EXPECT_EQ(python_literal("[0.0001,123456789.125]"), "(0.0001, 123456789.125)");
}

TEST(PythonLiteral, WholeNumbersKeepEveryDigit) {
  EXPECT_EQ(python_literal("[-1,9223372036854775807,18446744073709551616]"),
            "(-1, 9223372036854775807, 18446744073709551616)");
}

TEST(PythonLiteral, QuotesAsPythonChoosesThem) {
  EXPECT_EQ(python_literal(R"(["float"])"), "('float',)");
  EXPECT_EQ(python_literal(R"([""])"), "('',)");
  EXPECT_EQ(python_literal(R"(["it's"])"), R"(("it's",))");
  EXPECT_EQ(python_literal(R"(["say \"hi\""])"), R"(('say "hi"',))");
  EXPECT_EQ(python_literal(R"(["it's \"both\""])"), R"(('it\'s "both"',))");
}

TEST(PythonLiteral, BackslashesAndControlCharacters) {
  EXPECT_EQ(python_literal(R"(["a\\b"])"), R"(('a\\b',))");
  EXPECT_EQ(python_literal(R"(["a\nb\tc\rd"])"), R"(('a\nb\tc\rd',))");
  EXPECT_EQ(python_literal(R"(["a\/b"])"), "('a/b',)");
  EXPECT_EQ(python_literal("[\"µ\"]"), "('µ',)");
}

// json.loads gives the character, and repr prints it or its \x form.
TEST(PythonLiteral, EveryJsonEscapeIsTheCharacterItStandsFor) {
  EXPECT_EQ(python_literal(R"(["\b\f"])"), R"(('\x08\x0c',))");
  EXPECT_EQ(python_literal(R"(["\u0041"])"), "('A',)");
  EXPECT_EQ(python_literal(R"(["\u00b5"])"), "('µ',)");
  EXPECT_EQ(python_literal(R"(["\u001b"])"), R"(('\x1b',))");
}

TEST(PythonLiteral, BracketsAndCommasInStringsAreText) {
  EXPECT_EQ(python_literal(R"(["[1, 2]","a]"])"), "('[1, 2]', 'a]')");
}

TEST(PythonLiteral, DeepNestingIsNoRecursion) {
  const size_t depth = 200'000;
  const std::string text = python_literal(std::string(depth, '[') + "1" + std::string(depth, ']'));
  EXPECT_EQ(text.size(), depth + 1 + 2 * depth);
}

TEST(PythonLiteral, BrokenTextDoesNotCrash) {
  for (std::string_view text : {"", "]", "[", "[\"", "[\"a\\", "\"\\", "[1,]", "{\"a\":[1]}", ",,"})
    python_literal(text);
}

TEST(PythonList, QuotesEachText) {
  EXPECT_EQ(python_list({}), "[]");
  EXPECT_EQ(python_list({"GEMM"}), "['GEMM']");
  EXPECT_EQ(python_list({"a", "it's"}), R"(['a', "it's"])");
}

}  // namespace
}  // namespace fathom
