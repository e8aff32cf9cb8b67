#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

// A line of a Markdown or reStructuredText file. Lines of code that end in a backslash are joined.
struct DocLine {
  std::string text;
  uint32_t line = 0;
  bool code = false;     // in a code block
  std::string language;  // of the block, as written; may be empty
};

// What opens a block of code in Markdown, "```" or more; empty: the line opens none. Three
// backticks with others behind them are code in a sentence.
std::string_view opened_fence(std::string_view line);

std::vector<DocLine> read_doc(std::string_view text, bool markdown);

// The commands of a line of shell: separated by &&, ||, | and ;, each as its words. The prompt
// before it and a comment behind it are left out.
std::vector<std::vector<std::string>> shell_commands(std::string_view line);

// The cells of a row of a Markdown table; empty: it is none.
std::vector<std::string> table_cells(std::string_view line);

// What stands between backticks, in order; `` too.
std::vector<std::string> code_spans(std::string_view line);

}  // namespace fathom
