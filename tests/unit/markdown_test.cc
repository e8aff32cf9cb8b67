#include "report/markdown.h"

#include "checks.h"

namespace fathom {
namespace {

TEST(MdText, HarmlessTextStaysPlain) {
  for (const char* text : {"", "aten", "NVIDIA H200", "CUDA 13.0", "llama-h200.json.gz", "8 × AMD",
                           "path, name, arguments", "A (µs)", "30,180", "a/b"}) {
    EXPECT_EQ(md_text(text), text);
    EXPECT_EQ(md_cell(text), text);
  }
}

TEST(MdProse, OnlyNamesBecomeCode) {
  EXPECT_EQ(md_prose("High-Performance kernels: what's C++, and why?"),
            "High-Performance kernels: what's C++, and why?");
  EXPECT_EQ(md_prose("see train_gpt2.cu, released in 2024."),
            "see `train_gpt2.cu`, released in 2024.");
  EXPECT_EQ(md_prose("use `None`, ``x_y`` or a_b c_d now"), "use `None`, `x_y` or `a_b c_d` now");
  EXPECT_EQ(md_prose("a  b\nc"), "a `b\\nc`");
  EXPECT_EQ(md_prose_cell("rows a|b"), "rows `a\\|b`");
  EXPECT_EQ(md_prose(""), "");
}

// Whatever a word means to GitHub, it is code.
TEST(MdProse, NothingIsReadAsStructure) {
  for (const char* word : {"*bold*", "[x](y)", "<b>", "&amp;", "@someone", "#12", "GH-12",
                           ":smile:", "http://x.example", "www.x.example", "a@b.example", "$x$",
                           "_under_", "deadbee", "![x](y)", "a|b"}) {
    const std::string text = md_prose(std::string("so ") + word);
    EXPECT_TRUE(text.starts_with("so `")) << text;
    EXPECT_GE(text.rfind('`') + 2, text.size()) << text;  // a mark of the sentence may follow
  }
  for (const char* first : {"# x", "- x", "+ x", "> x", "1. x", "2) x", "= x", "| x"}) {
    EXPECT_EQ(md_prose(first).front(), '`') << first;
  }
}

// Each of these means something to GitHub: in structure, in HTML, or in what is linked afterwards.
TEST(MdText, WhatGitHubReadsBecomesCode) {
  for (const char* text : {"aten::mm",
                           "a|b",
                           "*bold*",
                           "_under_",
                           "snake_case",
                           "[link](x)",
                           "<b>",
                           "<!-- c -->",
                           "&amp;",
                           "# heading",
                           "> quote",
                           "- item",
                           "+ item",
                           "1. item",
                           "2) item",
                           "~~gone~~",
                           "@someone",
                           "a@b.example",
                           "http://x.example",
                           "www.x.example",
                           "WWW.x.example",
                           "#12",
                           "GH-12",
                           ":smile:",
                           "$x$",
                           "\\",
                           "deadbee",
                           "1234567",
                           "    indented",
                           "a ",
                           "=",
                           "---",
                           "!image",
                           "a\\|b",
                           "x^2",
                           "{}",
                           "\"",
                           "'",
                           ";"}) {
    EXPECT_EQ(md_text(text).front(), '`') << text;
    EXPECT_EQ(md_text(text).back(), '`') << text;
  }
}

TEST(MdText, ACodeSpanHoldsBackticks) {
  EXPECT_EQ(md_code("a`b"), "``a`b``");
  EXPECT_EQ(md_code("a``b`c"), "```a``b`c```");
  EXPECT_EQ(md_code("`"), "`` ` ``");
  EXPECT_EQ(md_code("`x"), "`` `x ``");
  EXPECT_EQ(md_code(" x "), "`  x  `");
  EXPECT_EQ(md_code("plain"), "`plain`");
  EXPECT_EQ(md_code(""), "");
}

TEST(MdText, OnlyACellEscapesPipes) {
  EXPECT_EQ(md_text("a|b"), "`a|b`");
  EXPECT_EQ(md_cell("a|b"), "`a\\|b`");
  // The table takes away the one backslash before each pipe, and no other.
  EXPECT_EQ(md_cell("a\\|b"), "`a\\\\|b`");
  EXPECT_EQ(md_code_cell("||"), "`\\|\\|`");
}

TEST(MdText, NoLineBreakControlOrUnseenCharacterRemains) {
  EXPECT_EQ(md_text("a\nb"), "`a\\nb`");
  EXPECT_EQ(md_text("a\r\n\n# b"), "`a\\r\\n\\n# b`");
  EXPECT_EQ(md_text("\x1b[31m\t\x7f"), "`\\u001b[31m\\t\\u007f`");
  EXPECT_EQ(md_text("a\xc2\x9b"
                    "2J"),
            "`a\\u009b2J`");
  EXPECT_EQ(md_text("a\xe2\x80\xae"
                    "b"),
            "`a\\u202eb`")
      << "right to left";
  EXPECT_EQ(md_text("a\xe2\x80\xa8"
                    "b"),
            "`a\\u2028b`")
      << "line separator";
  EXPECT_EQ(md_text("@\xe2\x81\xa0"
                    "b"),
            "`@\\u2060b`")
      << "word joiner";
  EXPECT_EQ(md_text("\xef\xbb\xbf"
                    "b"),
            "`\\ufeffb`")
      << "byte order mark";
  EXPECT_EQ(md_text("4×8 → 8×8, …"), "4×8 → 8×8, …") << "other characters stay";
}

Table sample() {
  Table table("sample");
  table.text_column("op")
      .add(std::string_view("aten::a|b"))
      .add(std::string_view("x"))
      .add_unknown();
  table.count_column("calls").add(int64_t{12345}).add_unknown().add(int64_t{-1});
  table.real_column("difference (µs)", Unit::kMicros).add(1.26).add(-2.0).add(0.0);
  table.time_column("total", Unit::kMillis).add(Nanos{1'234'567}).add(Nanos{0}).add(Nanos{5});
  return table;
}

TEST(MdTable, NumbersStandRightAndUnknownIsEmpty) {
  EXPECT_EQ(md_table(sample()),
            "| op | calls | difference (µs) | total |\n"
            "|---|---:|---:|---:|\n"
            "| `aten::a\\|b` | 12,345 | 1.3 | 1.235 |\n"
            "| x | | -2.0 | 0.000 |\n"
            "| | -1 | 0.0 | 0.000 |\n");
}

TEST(MdTable, StyleChoosesCodeSignsRowsAndWidth) {
  EXPECT_EQ(md_table(sample(), {{"op"}, {"difference (µs)"}, 2, 6}),
            "| op | calls | difference (µs) | total |\n"
            "|---|---:|---:|---:|\n"
            "| `aten:…` | 12,345 | +1.3 | 1.235 |\n"
            "| `x` | | -2.0 | 0.000 |\n");
}

TEST(MdTable, EveryLineHasAsManyCells) {
  Table table("hostile");
  Column& text = table.text_column("a|b\n| c |");
  for (const char* cell : {"|", "\n|---|", "`|`", "\\|", "\\", "||\r||"})
    text.add(std::string_view(cell));
  const std::string markdown = md_table(table);
  size_t lines = 0;
  for (size_t at = 0; at < markdown.size(); ++lines) {
    const size_t end = markdown.find('\n', at);
    const std::string line = markdown.substr(at, end - at);
    size_t bars = 0;
    for (size_t i = 0; i < line.size(); ++i)
      bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
    EXPECT_EQ(bars, 2) << line;
    at = end + 1;
  }
  EXPECT_EQ(lines, 8);
}

}  // namespace
}  // namespace fathom
