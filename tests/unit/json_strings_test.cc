#include "checks.h"
#include "ingest/kineto/json_text.h"

namespace fathom::kineto {
namespace {

TEST(ReadText, TakesTheQuotesOffStringsOnly) {
  EXPECT_EQ(read_text(R"("aten::mm")"), "aten::mm");
  EXPECT_EQ(read_text(R"("")"), "");
  EXPECT_EQ(read_text("12"), "12");
  EXPECT_EQ(read_text("null"), "null");
  EXPECT_EQ(read_text(""), "");
  EXPECT_EQ(read_text("[\"a\"]"), "[\"a\"]");
}

TEST(ReadText, Escapes) {
  EXPECT_EQ(read_text(R"("a\"b\\c\/d")"), "a\"b\\c/d");
  EXPECT_EQ(read_text(R"("\n\t\r\b\f")"), "\n\t\r\b\f");
  EXPECT_EQ(read_text(R"("C:\\new\\table")"), "C:\\new\\table");
  EXPECT_EQ(read_text(R"("\q")"), "q") << "what no writer should have written keeps its letter";
}

TEST(ReadText, UnicodeEscapesOfEveryLength) {
  EXPECT_EQ(read_text(R"("\u0041")"), "A");
  EXPECT_EQ(read_text(R"("\u00b5s")"), "µs");
  EXPECT_EQ(read_text(R"("\u2026")"), "…");
  EXPECT_EQ(read_text(R"("\uFFFF")"), "\xef\xbf\xbf");
  EXPECT_EQ(read_text(R"("\u0000")"), std::string(1, '\0'));
}

TEST(ReadText, SurrogatePairs) {
  EXPECT_EQ(read_text(R"("\ud83d\ude00!")"), "😀!");
  EXPECT_EQ(read_text(R"("\uD800\uDC00")"), "\xf0\x90\x80\x80");
  EXPECT_EQ(read_text(R"("\udbff\udfff")"), "\xf4\x8f\xbf\xbf");
}

TEST(ReadText, LoneSurrogatesBecomeTheReplacementCharacter) {
  const std::string replacement = "\xef\xbf\xbd";
  EXPECT_EQ(read_text(R"("\ud83d")"), replacement);
  EXPECT_EQ(read_text(R"("\ude00x")"), replacement + "x");
  EXPECT_EQ(read_text(R"("\ud83d\u0041")"), replacement + "A");
  EXPECT_EQ(read_text(R"("\ud83dx")"), replacement + "x");
  EXPECT_EQ(read_text(R"("\ud83d\ud83d\ude00")"), replacement + "😀");
}

TEST(ReadText, BrokenEscapesLoseNothingElse) {
  const std::string replacement = "\xef\xbf\xbd";
  EXPECT_EQ(read_text(R"("\uZZZZ")"), replacement + "ZZZZ");
  EXPECT_EQ(read_text(R"("a\u12")"), "a" + replacement + "12");
  EXPECT_EQ(read_text(R"("a\u")"), "a" + replacement);
  EXPECT_EQ(read_text(R"("\u-123")"), replacement + "-123");
}

TEST(IsPlainString, PromisesThatTheInsideIsTheText) {
  for (std::string_view json : {R"("aten::mm")", R"("")", R"("a\nb")", R"("\u0041")", "12", "null",
                                "", "\"", "[\"a\"]", R"("µ")"}) {
    if (is_plain_string(json)) {
      EXPECT_EQ(read_text(json), json.substr(1, json.size() - 2)) << json;
    }
  }
  EXPECT_TRUE(is_plain_string(R"("aten::mm")"));
  EXPECT_FALSE(is_plain_string(R"("a\nb")"));
  EXPECT_FALSE(is_plain_string("\""));
  EXPECT_FALSE(is_plain_string("12"));
}

TEST(WithoutSpaces, TakesWhiteSpaceOutBetweenTokens) {
  EXPECT_EQ(without_spaces("[ [1, 2],\n\t[ ] ,\r\n 3 ]"), "[[1,2],[],3]");
  EXPECT_EQ(without_spaces("[[1,2]]"), "[[1,2]]");
  EXPECT_EQ(without_spaces(""), "");
  EXPECT_EQ(without_spaces(" \n"), "");
}

TEST(WithoutSpaces, KeepsTheInsideOfStrings) {
  EXPECT_EQ(without_spaces(R"([ "long int" , " a  b " ])"), R"(["long int"," a  b "])");
  EXPECT_EQ(without_spaces(R"([ "a \" , b" , "c \\" , 1 ])"), R"(["a \" , b","c \\",1])");
  EXPECT_EQ(without_spaces(R"( "no end \")"), R"("no end \")");
}

}  // namespace
}  // namespace fathom::kineto
