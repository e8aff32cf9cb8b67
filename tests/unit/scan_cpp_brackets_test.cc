#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "checks.h"
#include "scan/cpp/brackets.h"
#include "scan/cpp/tokens.h"

namespace fathom::cpp {
namespace {

// "opener-closer" of each pair, by the place of the token.
std::string pairs(std::string_view text) {
  const TokenList source = lex(text);
  const Brackets brackets(source);
  std::string out;
  for (size_t i = 0; i < source.size(); ++i) {
    const uint32_t partner = brackets.partner(i);
    if (partner == Brackets::kNone || partner < i) continue;
    out += (out.empty() ? "" : " ") + std::to_string(i) + "-" + std::to_string(partner);
  }
  return out;
}

TEST(CppBrackets, BothHeadersOfAnIfCloseTogether) {
  EXPECT_EQ(pairs("#if A\n{\n#else\n{\n#endif\n}\n"), "1-5 3-5");
}

// One branch closes more than it opened, and so does the next: the same two brackets were linked
// twice.
TEST(CppBrackets, BranchesThatCloseWhatStandsOutside) {
  EXPECT_EQ(pairs("{{\n#if A\n{\n#else\n}\n#else\n}\n#endif\n}\n"), "0-9 1-5 3-9");
}

// Whatever is written: it ends, and a bracket's partner is one of its kind.
TEST(CppBrackets, AnySequenceEnds) {
  const std::vector<std::string> parts = {"{\n",      "{\n",     "{\n",     "}\n",     "}\n",
                                          "(\n",      ")\n",     "[\n",     "]\n",     "a<\n",
                                          ">\n",      ";\n",     "#if A\n", "#else\n", "#elif B\n",
                                          "#endif\n", "#if 0\n", "<<<\n",   ">>>\n"};
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    const size_t length = 10 + random() % 70;
    for (size_t i = 0; i < length; ++i) text += parts[random() % parts.size()];
    const TokenList source = lex(text);
    const Brackets brackets(source);
    for (size_t i = 0; i < source.size(); ++i) {
      const uint32_t partner = brackets.partner(i);
      if (partner == Brackets::kNone || !source.is(i, "}")) continue;
      ASSERT_LT(partner, i) << text;
      ASSERT_TRUE(source.is(partner, "{")) << text;
    }
  }
}

}  // namespace
}  // namespace fathom::cpp
