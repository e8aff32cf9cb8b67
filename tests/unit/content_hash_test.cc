#include "base/content_hash.h"

#include <cstring>
#include <random>
#include <string>

#include "checks.h"

namespace fathom {
namespace {

// Values of the reference implementation, https://github.com/Cyan4973/xxHash (XXH64, seed 0).
TEST(ContentHash, IsXxh64) {
  EXPECT_EQ(hash_content(""), 0xef46db3751d8e999u);
  EXPECT_EQ(hash_content("a"), 0xd24ec4f1a98c6e5bu);
  EXPECT_EQ(hash_content("abc"), 0x44bc2cf5ad770999u);
  EXPECT_EQ(hash_content("Nobody inspects the spammish repetition"), 0xfbcea83c8a378bf1u);
}

TEST(ContentHash, DoesNotDependOnThePieces) {
  std::mt19937 random(1);
  std::string text(1000, '\0');
  for (char& c : text) c = static_cast<char>(random());
  for (int i = 0; i < 300; ++i) {
    ContentHash hash;
    for (size_t at = 0; at < text.size();) {
      const size_t n = std::min<size_t>(random() % 100, text.size() - at);
      hash.add(std::string_view(text).substr(at, n));
      at += n;
    }
    ASSERT_EQ(hash.value(), hash_content(text));
    ASSERT_EQ(hash.size(), text.size());
  }
}

// Words that make a factor zero in hashes that multiply state and content.
TEST(ContentHash, NoWordHidesWhatCameBefore) {
  for (const uint64_t word : {0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u, 0x9e3779b185ebca87u,
                              0xc2b2ae3d27d4eb4fu, uint64_t{0}, ~uint64_t{0}}) {
    std::string text(256, 'x');
    for (size_t at = 64; at < 192; at += 8) std::memcpy(text.data() + at, &word, 8);
    const uint64_t before = hash_content(text);
    for (size_t i = 0; i < text.size(); ++i) {
      std::string other = text;
      other[i] = static_cast<char>(other[i] ^ 1);
      EXPECT_NE(hash_content(other), before) << i;
    }
  }
}

}  // namespace
}  // namespace fathom
