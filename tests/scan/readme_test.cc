#include "scan/docs/readme.h"

#include "checks.h"

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

// A block is closed by as many as opened it; three with more behind them are code in a sentence.
TEST(Readme, WhatOpensAndClosesABlockOfCode) {
  const ReadmeFacts inline_code = read_readme(
      "# Thing\n\n```thing``` is a library of fast kernels for attention.\n\n## Usage\n\ntext\n");
  EXPECT_EQ(inline_code.first_paragraph, "thing is a library of fast kernels for attention.");
  EXPECT_EQ(inline_code.headings.size(), 2u);
  const ReadmeFacts four =
      read_readme("# Thing\n\n````md\n```sh\nls\n```\n# not a heading\n````\n\n## Usage\n\ntext\n");
  EXPECT_EQ(four.headings.size(), 2u);
}

// Addresses have no words, and a block of code that is written by its indentation no sentences.
TEST(Readme, AddressesAndIndentedCodeAreNoProse) {
  const ReadmeFacts video = read_readme(
      "<h2>The "
      "Thing</h2>\n\nhttps://host.example/owner/thing/assets/30883354/52613efc-738f-4081\n\n"
      "_Now you can process long prompts much faster._\n");
  EXPECT_EQ(video.first_paragraph, "Now you can process long prompts much faster.");
  const ReadmeFacts code = read_readme(
      "Thing\n=====\n\nEncoder and decoder of images for all GPUs.\n\nOverview\n--------\n\n"
      "It has the following phases:\n\n     Encoding:     Decoding\n     1) Loading    1) Loading "
      "of "
      "it\n\nand these are implemented as follows:\n - CPU: one and the other\n");
  EXPECT_EQ(code.first_paragraph, "Encoder and decoder of images for all GPUs.");
  // In a tag, indented lines are its text; so are those behind the first line of a paragraph.
  const ReadmeFacts tag = read_readme(
      "<p align=\"center\">\n    A library of fast kernels for attention layers.\n</p>\n");
  EXPECT_EQ(tag.first_paragraph, "A library of fast kernels for attention layers.");
}

// What calls on the reader stands before what it is; a name with an exclamation mark does not.
TEST(Readme, CallsAndSummaries) {
  const ReadmeFacts call = read_readme(
      "# Thing\n\n## Overview\n\nThe public training run of it is going on! Come and see its page, "
      "please.\n\nThing is one of the strongest players of all.\n");
  EXPECT_EQ(call.first_paragraph, "Thing is one of the strongest players of all.");
  const ReadmeFacts only = read_readme(
      "# Thing\n\n## Overview\n\nThing plays all games that there are, and it wins!\n\n"
      "Another paragraph which is about its history.\n");
  EXPECT_EQ(only.first_paragraph, "Thing plays all games that there are, and it wins!");
  const ReadmeFacts state = read_readme(
      "# Overview\n\nThis project is a work-in-progress. Everything may change.\n\nThing measures "
      "the "
      "time of kernels in detail.\n");
  EXPECT_EQ(state.first_paragraph, "Thing measures the time of kernels in detail.");
  const ReadmeFacts summary = read_readme(
      "# Thing\n\nWe have a new page, come and see all of it.\n\n## TL;DR\n\nThing makes the first "
      "token of long prompts faster.\n");
  EXPECT_EQ(summary.first_paragraph, "Thing makes the first token of long prompts faster.");
}

// Links to translations on a line of HTML; a link in a sentence belongs to it.
TEST(Readme, ALineOfLinksIsNoDescription) {
  const ReadmeFacts facts = read_readme(
      "# Thing\n<div align='right'><b><a href=\"./fr.md\">En français</a></b> </div>\n"
      "Easy and efficient numbers for all\n");
  EXPECT_EQ(facts.first_paragraph, "Easy and efficient numbers for all");
  const ReadmeFacts sentence =
      read_readme("# Thing\n<p>Thing makes numbers for <a href=\"./all.md\">all of them</a></p>\n");
  EXPECT_EQ(sentence.first_paragraph, "Thing makes numbers for all of them");
  const ReadmeFacts broken = read_readme(
      "# Thing\n<p>\n<b>A set of tools for numbers in\n<a href=\"./all.md\">all of them</a></b>\n"
      "<p>\n");
  EXPECT_EQ(broken.first_paragraph, "A set of tools for numbers in all of them");
  const ReadmeFacts beside = read_readme(
      "# Thing\n<p>A set of tools for all numbers</p>\n<a href=\"./all.md\">All of it</a>\n");
  EXPECT_EQ(beside.first_paragraph, "A set of tools for all numbers");
}

TEST(Readme, AboutComesBeforeNews) {
  const ReadmeFacts facts = read_readme(
      "We have a new website, come and see it, it is good.\n\n## About\nThis serves language "
      "models "
      "quickly and well.\n\nAnd there is a second paragraph which is not it.\n");
  EXPECT_EQ(facts.first_paragraph, "This serves language models quickly and well.");
}

// Whose it is says nothing of what it is; a list may.
TEST(Readme, CopyrightIsNoDescription) {
  const ReadmeFacts facts = read_readme(
      "# Atoms\n\nCopyright (2017) A. Person. This is the Atoms software package.\n\n"
      "## What is Atoms?\n* It stands for atoms on GPUs.\n* It simulates molecules.\n\n"
      "## Prerequisites\n* A GPU with compute capability 3.5 or later.\n");
  EXPECT_EQ(facts.first_paragraph, "It stands for atoms on GPUs; It simulates molecules");
  EXPECT_EQ(facts.paragraph_line, 6u);
}

TEST(Readme, AListElsewhereIsNoDescription) {
  const ReadmeFacts facts = read_readme(
      "# Atoms\n\nAtoms simulates molecules on many GPUs.\n\n## Prerequisites\n"
      "* A GPU with compute capability 3.5 or later.\n* And a compiler that can build it.\n");
  EXPECT_EQ(facts.first_paragraph, "Atoms simulates molecules on many GPUs.");
}

TEST(Readme, Underlines) {
  const ReadmeFacts facts = read_readme("Title\n=====\n\nPart\n----\n");
  EXPECT_EQ(facts.title, "Title");
  ASSERT_EQ(facts.headings.size(), 2u);
  EXPECT_EQ(facts.headings[1].level, 2);
}

// HTML at the beginning of a line and over several lines, and rows of links, are no description.
TEST(Readme, HtmlAndRowsOfLinksAreNoProse) {
  const ReadmeFacts facts = read_readme(R"(<div align="center">
<img src="logo.png"
     width="50%"
     alt="A picture of something, with many words in it">
</div>

<p align="center"><a href="x">one</a> <a href="y">two</a></p>

[Manifesto](https://a) / [the library](https://b) / [list of operations](https://c)

**Update Nov 2025** there is a newer thing, and you likely want that one instead.

The simplest thing for training models of a middle size.

Later text that is long enough to be a paragraph as well.
)");
  EXPECT_EQ(facts.first_paragraph, "The simplest thing for training models of a middle size.");
  EXPECT_EQ(facts.paragraph_line, 13u);
}

// A sentence with links in it is prose; so is news where there is nothing else.
TEST(Readme, ProseWithLinksAndNewsAlone) {
  EXPECT_EQ(read_readme("[Thing](a) runs [models](b) on all of your GPUs, fast.\n").first_paragraph,
            "Thing runs models on all of your GPUs, fast.");
  EXPECT_EQ(
      read_readme("# T\n\nNote that this project is no longer worked on by us.\n").first_paragraph,
      "Note that this project is no longer worked on by us.");
  EXPECT_EQ(
      read_readme("# T\n\nIf a < b and c > d then the result is what you want.\n").first_paragraph,
      "If a < b and c > d then the result is what you want.");
}

// What a list says of a thing goes with the words before it; a tagline counts where there is no
// more.
TEST(Readme, ListsAndTaglines) {
  EXPECT_EQ(read_readme("# T\n\nThing is:\n\n- **fast**: it uses all of the GPU.\n- small\n\n"
                        "## Install\n\nRun this command to install the whole of it.\n")
                .first_paragraph,
            "Thing is: fast: it uses all of the GPU; small");
  EXPECT_EQ(read_readme("# T\n\nModel inference in C and C++\n\n## Quick start\n\nA few options to "
                        "get the thing installed on your machine.\n")
                .first_paragraph,
            "Model inference in C and C++");
  EXPECT_EQ(read_readme("# T\n\n## Quick start\n\nA few options to get the thing installed now.\n\n"
                        "## Description\n\nThe main goal is inference with little setup.\n")
                .first_paragraph,
            "The main goal is inference with little setup.");
}

// What leads to a picture is no description; what a list goes on with is.
TEST(Readme, WordsBeforeAPictureAreNoDescription) {
  EXPECT_EQ(read_readme("# T\n\nStep by step to a fast product of matrices, in CUDA.\n\n"
                        "## Overview\n\nRunning the kernels on a card of mine:\n\n![](a.png)\n\n"
                        "Numbers at the size of 4096 by 4096:\n")
                .first_paragraph,
            "Step by step to a fast product of matrices, in CUDA.");
  EXPECT_EQ(read_readme("# T\n\nIt is known as the thing of the year.\n\n"
                        "## Overview\n\nThe thing multiplies matrices, and has:\n\n- kernels\n")
                .first_paragraph,
            "The thing multiplies matrices, and has: kernels");
}

TEST(Readme, AddressesOfLinksAreNoDescription) {
  EXPECT_EQ(read_readme("# T.jl\n\n*Programming in Julia*\n\n[![][doi-img]][doi-url]\n\n"
                        "[doi-img]: https://zenodo.org/badge/doi/10.1109/TPDS.2018.2872064.svg\n"
                        "[doi-url]: https://example.org/abstract/document/8471188/all/of/it\n\n"
                        "The package is for programming GPUs, with arrays and kernels.\n")
                .first_paragraph,
            "The package is for programming GPUs, with arrays and kernels.");
  EXPECT_EQ(read_readme("# T\n\n[Thing]: a library of kernels which all can use.\n"
                        "[Thing](a): a library of kernels which all can use.\n")
                .first_paragraph,
            "Thing: a library of kernels which all can use.");
}

TEST(Readme, NamesOfCharactersAndEmoji) {
  const ReadmeFacts facts = read_readme(
      "# &nbsp;Thing :rocket:\n\nDocuments :book: about A &amp; B: what there is to know\n");
  EXPECT_EQ(facts.title, "Thing");
  EXPECT_EQ(facts.first_paragraph, "Documents about A & B: what there is to know");
}

// "What's missing?" is no "What is it?".
TEST(Readme, WhatIsMissingIsNotWhatItIs) {
  EXPECT_EQ(
      read_readme("# Thing\n\nThing is a library for models on small GPUs. It has:\n\n- Caches\n\n"
                  "## What's missing?\n\nOn the list of things to do: support of another GPU\n")
          .first_paragraph,
      "Thing is a library for models on small GPUs. It has: Caches");
  EXPECT_EQ(read_readme("# Thing\n\nWe have a new website, and it is good to read.\n\n"
                        "## What is Thing?\n\nThing serves models on small and on large GPUs.\n")
                .first_paragraph,
            "Thing serves models on small and on large GPUs.");
}

TEST(Readme, NumbersAreNoDescription) {
  bool introduces = true;
  const std::string benchmarks =
      "## Latest\n\n- A new model\n\n## Benchmarks\n\nMean tokens per second across lengths from "
      "128 to 16384 tokens.\n";
  (void)read_readme(benchmarks, &introduces);
  EXPECT_FALSE(introduces);
  const ReadmeFacts facts = read_readme(
      benchmarks + "\n## About\n\nIt serves models, and it is fast at that.\n", &introduces);
  EXPECT_TRUE(introduces);
  EXPECT_EQ(facts.first_paragraph, "It serves models, and it is fast at that.");
}

TEST(Readme, WhoMadeItAndWhatToTypeAreNoDescription) {
  const auto told = [](const std::string& text) { return read_readme(text).first_paragraph; };
  EXPECT_EQ(told("# Thing\n\n## Kernels\n\nMade with love by the team at the Labs for the other "
                 "thing.\n\nThing is a collection of kernels for narrow weights.\n"),
            "Thing is a collection of kernels for narrow weights.");
  EXPECT_EQ(told("# Thing\n\nMade for kernels of narrow weights, Thing is a collection.\n"),
            "Made for kernels of narrow weights, Thing is a collection.");
  EXPECT_EQ(told("# Thing\n\nTo start an interactive session with the model, run:\n\n```sh\n./a\n"
                 "```\n"),
            "");
  EXPECT_EQ(told("# T\n\n## Deprecation Notice\nThis is the old home of the examples of it.\n\n"
                 "## Examples\nPrograms that show how kernels are written with it.\n"),
            "Programs that show how kernels are written with it.");
}

TEST(Readme, LinksOverLinesAndByName) {
  EXPECT_EQ(
      read_readme(
          "# T\n\nThe suite is a companion of the [Base] library for [Interaction\n"
          "Combinator](https://a/b) code [x] [1].\n\n[Base]: https://base\n\n[1]: https://note\n")
          .first_paragraph,
      "The suite is a companion of the Base library for Interaction Combinator code [x] "
      "[1].");
}

TEST(Readme, ClosedHeadings) {
  const ReadmeFacts facts = read_readme("# T\n\n## Windows ##\n\n## In C#\n");
  ASSERT_EQ(facts.headings.size(), 3u);
  EXPECT_EQ(facts.headings[1].text, "Windows");
  EXPECT_EQ(facts.headings[2].text, "In C#");
}

TEST(Readme, BrokenText) {
  for (const char* text : {"", "#", "```", "<!--", "<h1", "[a](", "![[[[[[", "[[[]]", "= \n==="}) {
    (void)read_readme(text);
  }
  EXPECT_EQ(read_readme("# \n").title, "");
}

}  // namespace
}  // namespace fathom
