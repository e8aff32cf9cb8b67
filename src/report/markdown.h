#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/table.h"

// Text that a trace may choose, made inert for GitHub's markdown: it shows as itself, letter by
// letter, and is never taken for structure, HTML, an entity, a link, a mention, an issue, a commit,
// an emoji or a formula. Control characters, line breaks among them, and characters that turn the
// direction of writing become '?'.
//
// A code span is the one place where GitHub does none of these things (a backslash or an entity
// keeps text from the parser, but not from the mentions and links made after it), so text becomes
// one unless every letter of it is harmless.
namespace fathom {

// For running text: plain where that is harmless, else a code span.
std::string md_text(std::string_view text);
// For sentences: word by word, so that one name does not make code of all. Blanks become one.
std::string md_prose(std::string_view text);
// The same where a line has begun already: a number there begins no list.
std::string md_words(std::string_view text);
// For running text: a code span. Nothing for an empty text, which has none.
std::string md_code(std::string_view text);
// The same for a cell of a table, where a '|' needs a backslash even inside a code span.
std::string md_cell(std::string_view text);
std::string md_prose_cell(std::string_view text);
std::string md_code_cell(std::string_view text);

struct MarkdownTableStyle {
  // Columns by name: cells always as code spans; numbers always with their sign.
  std::vector<std::string_view> code_columns = {}, signed_columns = {};
  size_t max_rows = SIZE_MAX;   // more are left out, which is the caller's to say
  size_t max_characters = 120;  // of a text; a longer one ends in an ellipsis
  // Cells that are markdown already, which is written as it is and never cut.
  std::vector<std::string_view> markdown_columns = {};
};
// Numbers stand right, with digits as their unit needs; an unknown cell is empty. Ends in a line
// feed; the caller puts an empty line before and after.
std::string md_table(const Table& table, const MarkdownTableStyle& style = {});

// A row of a table.
std::string md_row(const std::vector<std::string>& cells);

}  // namespace fathom
