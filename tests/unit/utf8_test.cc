#include "base/utf8.h"

#include "base/json_writer.h"
#include "checks.h"
#include "ingest/kineto/json_text.h"

namespace fathom {
namespace {

// UTF-8 of one character.
std::string utf8(char32_t c) {
  const auto tail = [c](int shift) { return static_cast<char>(0x80 | ((c >> shift) & 0x3f)); };
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xc0 | (c >> 6)), tail(0)};
  if (c < 0x10000) return {static_cast<char>(0xe0 | (c >> 12)), tail(6), tail(0)};
  return {static_cast<char>(0xf0 | (c >> 18)), tail(12), tail(6), tail(0)};
}

TEST(Unseen, IsEscaped) {
  EXPECT_EQ(with_unseen_escaped("a\x1b[31m\x7f"), "a\\u001b[31m\\u007f");
  EXPECT_EQ(with_unseen_escaped(std::string_view("\0\n\t\r", 4)), "\\u0000\\n\\t\\r");
  EXPECT_EQ(with_unseen_escaped(std::string_view("\0\n\t\r", 4), "\n\t"), "\\u0000\n\t\\r");
  for (const char32_t c : {0x80,   0x85,   0x9b,   0xad,   0x61c,   0x180e,  0x200b,  0x200e,
                           0x200f, 0x2028, 0x2029, 0x202a, 0x202e,  0x2060,  0x2066,  0x2069,
                           0x206f, 0xfeff, 0xfff9, 0x3164, 0x1d173, 0xe0001, 0xe0041, 0xe007f}) {
    const std::string text = with_unseen_escaped("a" + utf8(c) + "b");
    EXPECT_TRUE(text.starts_with("a\\") && text.ends_with("b")) << text;
    EXPECT_EQ(text.find(utf8(c)), std::string::npos) << text;
  }
  EXPECT_EQ(with_unseen_escaped("\xff\xc2"), "??") << "no UTF-8";
}

TEST(Unseen, LettersAccentsAndEmojiStay) {
  for (const char* text :
       {"plain", "µs … é ñ ü", "行列 演算子 カーネル 커널", "ядро", "πυρήνας", "שלום", "مرحبا",
        "می‌خواهم", "क्‍ष", "❤️‍🔥", "👩‍💻", "👨‍👩‍👧",
        "🏳️‍🌈", "a → b", "①", "e\u0301"}) {
    EXPECT_EQ(with_unseen_escaped(text), text);
  }
}

// Where it joins nothing, a joiner is a zero-width character like the others.
TEST(Unseen, JoinersThatJoinNothingAreEscaped) {
  EXPECT_EQ(with_unseen_escaped("a\u200db"), "a\\u200db");
  EXPECT_EQ(with_unseen_escaped("\u200c"), "\\u200c");
  EXPECT_EQ(with_unseen_escaped("é\u200d\u200d"), "é\u200d\\u200d");
  EXPECT_EQ(with_unseen_escaped("a\ufe0f"), "a\\ufe0f");
  EXPECT_EQ(with_unseen_escaped("é\ufe0f\ufe0f"), "é\ufe0f\\ufe0f");
  EXPECT_EQ(with_unseen_escaped("\u202e\u200d"), "\\u202e\\u200d");
}

TEST(Unseen, JsonKeepsTheValue) {
  EXPECT_EQ(json_quoted("a\u202eb"), "\"a\\u202eb\"");
  EXPECT_EQ(json_quoted("\U000e0041"), "\"\\udb40\\udc41\"");
  EXPECT_EQ(json_quoted("👩‍💻 é"), "\"👩‍💻 é\"");
  for (char32_t c = 0x80; c < 0xf0000; c += c < 0x3000 ? 1 : 61) {
    if (c >= 0xd800 && c < 0xe000) continue;
    const std::string text = "a" + utf8(c) + "b";
    ASSERT_EQ(kineto::read_text(json_quoted(text)), text) << static_cast<uint32_t>(c);
  }
}

}  // namespace
}  // namespace fathom
