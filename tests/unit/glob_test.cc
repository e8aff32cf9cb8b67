#include "base/glob.h"

#include <string>
#include <vector>

#include "checks.h"

namespace fathom {
namespace {

TEST(Glob, MatchesTheWholeText) {
  EXPECT_TRUE(glob_matches("ProfilerStep#*", "ProfilerStep#12"));
  EXPECT_TRUE(glob_matches("ProfilerStep#*", "ProfilerStep#"));
  EXPECT_FALSE(glob_matches("ProfilerStep#*", "a ProfilerStep#12"));
  EXPECT_TRUE(glob_matches("*Step*", "ProfilerStep#12"));
  EXPECT_TRUE(glob_matches("decode_?", "decode_1"));
  EXPECT_FALSE(glob_matches("decode_?", "decode_12"));
  EXPECT_FALSE(glob_matches("decode_?", "decode_"));
  EXPECT_FALSE(glob_matches("", "a"));
  EXPECT_TRUE(glob_matches("", ""));
  EXPECT_TRUE(glob_matches("**", ""));
}

TEST(Glob, GivesNoMeaningToOtherSigns) {
  EXPECT_TRUE(glob_matches("a[b]", "a[b]"));
  EXPECT_FALSE(glob_matches("a[b]", "ab"));
  EXPECT_FALSE(glob_matches("a.c", "abc"));
}

TEST(Glob, TriesEveryLengthOfAStar) {
  EXPECT_TRUE(glob_matches("*ab", "aab"));
  EXPECT_TRUE(glob_matches("a*b*c", "aXbXbXc"));
  EXPECT_FALSE(glob_matches("a*b*c", "aXbXbX"));
  // Exponential for a matcher that tries every star again.
  const std::string text(200, 'a');
  EXPECT_FALSE(glob_matches("*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
}

bool matches_by_definition(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() == '*') {
    return matches_by_definition(pattern.substr(1), text) ||
           (!text.empty() && matches_by_definition(pattern, text.substr(1)));
  }
  return !text.empty() && (pattern.front() == '?' || pattern.front() == text.front()) &&
         matches_by_definition(pattern.substr(1), text.substr(1));
}

std::vector<std::string> all_texts(std::string_view letters, size_t longest) {
  std::vector<std::string> texts = {""};
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].size() == longest) break;
    for (char letter : letters) texts.push_back(texts[i] + letter);
  }
  return texts;
}

TEST(Glob, AgreesWithItsDefinitionOnAllShortTexts) {
  const std::vector<std::string> texts = all_texts("ab", 5);
  for (const std::string& pattern : all_texts("ab*?", 4)) {
    for (const std::string& text : texts) {
      ASSERT_EQ(glob_matches(pattern, text), matches_by_definition(pattern, text))
          << pattern << " on " << text;
    }
  }
}

}  // namespace
}  // namespace fathom
