#include "base/string_pool.h"

#include <cstdlib>
#include <string>

#include "checks.h"

namespace fathom {
namespace {

using std::string_view_literals::operator""sv;

TEST(StringPool, NumbersTextsInTheOrderOfFirstSight) {
  StringPool pool;
  EXPECT_EQ(pool.intern("b").index, 0u);
  EXPECT_EQ(pool.intern("a").index, 1u);
  EXPECT_EQ(pool.intern("b").index, 0u);
  EXPECT_EQ(pool.intern("c").index, 2u);
  EXPECT_EQ(pool.size(), 3u);
  EXPECT_EQ(pool.text(StringId(1)), "a");
}

TEST(StringPool, TellsTextsApartThatDifferAfterANullByte) {
  StringPool pool;
  const StringId short_text = pool.intern("a"), first = pool.intern("a\0b"sv),
                 second = pool.intern("a\0c"sv);
  EXPECT_NE(short_text, first);
  EXPECT_NE(first, second);
  EXPECT_EQ(pool.text(first), "a\0b"sv);
}

TEST(StringPool, ViewsHoldWhileThePoolGrows) {
  StringPool pool;
  const std::string_view first = pool.text(pool.intern("the first text"));
  const std::string large(3 << 20, 'x');
  EXPECT_EQ(pool.text(pool.intern(large)), large);
  for (int i = 0; i < 100'000; ++i) pool.intern("text " + std::to_string(i));
  EXPECT_EQ(first, "the first text");
  EXPECT_EQ(pool.size(), 100'002u);
  for (uint32_t i = 0; i < 100'000; ++i) {
    const std::string text = "text " + std::to_string(i);
    ASSERT_EQ(pool.intern(text).index, i + 2) << "known texts keep their numbers";
    ASSERT_EQ(pool.text(StringId(i + 2)), text);
  }
  EXPECT_EQ(pool.text(pool.intern(large)), large);
  EXPECT_EQ(pool.size(), 100'002u);
}

TEST(StringPool, HoldsTheEmptyTextBesideOthers) {
  StringPool pool;
  pool.intern("a");
  const StringId empty = pool.intern("");
  EXPECT_EQ(pool.text(empty), "");
  EXPECT_EQ(pool.intern(""), empty);
}

// In a process of its own, because a fault here is a crash.
TEST(StringPoolDeathTest, HoldsTheEmptyTextAsItsFirst) {
  EXPECT_EXIT(
      {
        StringPool pool;
        const StringId empty = pool.intern("");
        std::exit(empty.valid() && pool.text(empty).empty() ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace fathom
