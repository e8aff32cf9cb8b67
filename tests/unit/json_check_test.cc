#include "base/json_check.h"

#include <string>

#include "checks.h"

namespace fathom {
namespace {

TEST(JsonCheck, WhatTheStandardAllows) {
  for (const char* text :
       {"[[4,4],[4,4]]", " [ ] ", "{}", R"({"a" : [1, -0.5e+3, 0, "\u00e9\n\"", "é", true, null]})",
        "0", "-0", "10", R"("")", "1E-9"}) {
    EXPECT_TRUE(is_json(text)) << text;
  }
  EXPECT_TRUE(is_json(std::string(64, '[') + std::string(64, ']')));
}

TEST(JsonCheck, WhatLooksAlike) {
  for (const char* text : {"",
                           " ",
                           "[NaN]",
                           "nan",
                           "[Infinity]",
                           "[1,,2]",
                           "[1,]",
                           "[,1]",
                           "[tru]",
                           "[[1,2]",
                           "[1]]",
                           "[1] [2]",
                           "{\"a\":}",
                           "{\"a\" 1}",
                           "{a:1}",
                           "{1:2}",
                           R"(["a\q"])",
                           R"(["\u12g4"])",
                           R"("\u12)",
                           "\"x",
                           "\"\t\"",
                           "[1.]",
                           "[01]",
                           "[-]",
                           "[1e]",
                           "[.5]",
                           "[+1]",
                           "['a']",
                           "\\",
                           "\"\xff\"",
                           "\"\xed\xa0\x80\"",
                           "k(float*)"}) {
    EXPECT_FALSE(is_json(text)) << text;
  }
  EXPECT_FALSE(is_json(std::string(1'000'000, '[')));
}

}  // namespace
}  // namespace fathom
