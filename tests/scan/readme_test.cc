#include "scan/docs/readme.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(Readme, TitleParagraphAndHeadings) {
  const ReadmeFacts facts = read_readme(R"(<p align="center"><img src="x.png"></p>

# The *Fast* Thing

[![build](https://b.svg)](https://ci) ![x](y)
[Docs](a) | [Blog](b) | [Chat](c) | [More](d)

A library of [kernels](https://k) for `paged` attention,
in **two** lines.

## Usage
```sh
# not a heading
```
### Deep
)");
  EXPECT_EQ(facts.title, "The Fast Thing");
  EXPECT_EQ(facts.first_paragraph, "A library of kernels for paged attention, in two lines.");
  EXPECT_EQ(facts.paragraph_line, 8u);
  ASSERT_EQ(facts.headings.size(), 3u);
  EXPECT_EQ(facts.headings[1].text, "Usage");
  EXPECT_EQ(facts.headings[1].line, 11u);
  EXPECT_EQ(facts.headings[2].level, 3);
}

TEST(Readme, AboutComesBeforeNews) {
  const ReadmeFacts facts = read_readme(
      "We have a new website, come and see it, it is good.\n\n## About\nThis serves language "
      "models "
      "quickly and well.\n\nAnd there is a second paragraph which is not it.\n");
  EXPECT_EQ(facts.first_paragraph, "This serves language models quickly and well.");
}

TEST(Readme, Underlines) {
  const ReadmeFacts facts = read_readme("Title\n=====\n\nPart\n----\n");
  EXPECT_EQ(facts.title, "Title");
  ASSERT_EQ(facts.headings.size(), 2u);
  EXPECT_EQ(facts.headings[1].level, 2);
}

TEST(Readme, BrokenText) {
  for (const char* text : {"", "#", "```", "<!--", "<h1", "[a](", "![[[[[[", "[[[]]", "= \n==="}) {
    (void)read_readme(text);
  }
  EXPECT_EQ(read_readme("# \n").title, "");
}

}  // namespace
}  // namespace fathom
