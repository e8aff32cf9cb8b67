#include "base/json_writer.h"

#include <limits>

#include "checks.h"
#include "ingest/kineto/json_text.h"

namespace fathom {
namespace {

TEST(JsonWriter, WritesOnOneLine) {
  JsonWriter json(false);
  json.begin_object().key("a").value(int64_t{1}).key("b").begin_array();
  json.value("x").value(true).null().end_array().key("c").begin_object().end_object().end_object();
  EXPECT_EQ(json.take(), R"({"a":1, "b":["x", true, null], "c":{}})");
}

// A file's name may be any bytes; a document is UTF-8.
TEST(JsonWriter, AnyBytesMakeAValidDocument) {
  EXPECT_EQ(json_quoted("bad\xff\xfe.json"), "\"bad?\?.json\"");
  EXPECT_EQ(json_quoted("cut \xe2\x80"), "\"cut ??\"");
  EXPECT_EQ(json_quoted("µs ×"), "\"µs ×\"");
}

TEST(JsonWriter, IndentsByDepth) {
  JsonWriter json(true);
  json.begin_object().key("a").begin_array().value(int64_t{1}).value(int64_t{2}).end_array();
  json.key("empty").begin_array().end_array().key("o").begin_object();
  json.key("x").value(false).end_object().end_object();
  EXPECT_EQ(json.take(), R"({
  "a": [
    1,
    2
  ],
  "empty": [],
  "o": {
    "x": false
  }
})");
}

TEST(JsonWriter, SeparatesObjectsInAList) {
  JsonWriter json(false);
  json.begin_array();
  for (int64_t i : {1, 2}) json.begin_object().key("i").value(i).end_object();
  json.raw("[3]").end_array();
  EXPECT_EQ(json.take(), R"([{"i":1}, {"i":2}, [3]])");
}

TEST(JsonWriter, WritesNumbersThatReadBackTheSame) {
  JsonWriter json(false);
  json.begin_array().value(0.1).value(1e22).value(-2.5).value(5.0).value(1.0 / 3);
  json.value(std::numeric_limits<int64_t>::min()).value(std::numeric_limits<int64_t>::max());
  json.end_array();
  EXPECT_EQ(json.take(),
            "[0.1, 1e+22, -2.5, 5, 0.3333333333333333, -9223372036854775808, 9223372036854775807]");
}

TEST(JsonWriter, HasNoWordForWhatIsNotFinite) {
  JsonWriter json(false);
  json.begin_array().value(std::numeric_limits<double>::quiet_NaN());
  json.value(std::numeric_limits<double>::infinity()).end_array();
  EXPECT_EQ(json.take(), "[null, null]");
}

TEST(JsonQuoted, EscapesWhatJsonForbids) {
  EXPECT_EQ(json_quoted(R"(a "b" \c)"), R"("a \"b\" \\c")");
  EXPECT_EQ(json_quoted("a\nb\tc\rd"), R"("a\nb\tc\rd")");
  EXPECT_EQ(json_quoted(std::string_view("\0\x1b\x7f", 3)), "\"\\u0000\\u001b\\u007f\"");
  EXPECT_EQ(json_quoted("µs …"), "\"µs …\"");
}

TEST(JsonQuoted, EveryCharacterReadsBackTheSame) {
  for (int c = 0; c < 0x80; ++c) {
    const std::string text = std::string("a") + static_cast<char>(c) + "b";
    EXPECT_EQ(kineto::read_text(json_quoted(text)), text) << c;
  }
}

TEST(JsonQuoted, KeysAreEscapedToo) {
  JsonWriter json(false);
  json.begin_object().key("a\"b").value("").end_object();
  EXPECT_EQ(json.take(), R"({"a\"b":""})");
}

}  // namespace
}  // namespace fathom
