#include "report/markdown.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/screen_text.h"

namespace fathom {
namespace {

bool is_hex(char c) { return is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f'); }

bool contains_ignoring_case(std::string_view text, std::string_view lower_case) {
  const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; };
  return !std::ranges::search(text, lower_case, same).empty();
}

// GitHub links a commit's number, which may be cut to 7 digits.
bool may_name_commit(std::string_view text) {
  size_t run = 0;
  for (const char c : text) {
    run = is_hex(c) ? run + 1 : 0;
    if (run >= 7) return true;
  }
  return false;
}

// "GH-12" names an issue.
bool may_name_issue(std::string_view text) {
  for (size_t i = 0; i + 3 < text.size(); ++i) {
    if ((text[i] | 32) == 'g' && (text[i + 1] | 32) == 'h' && text[i + 2] == '-' &&
        is_digit(text[i + 3]))
      return true;
  }
  return false;
}

// "1." and "1)" begin a list.
bool begins_list(std::string_view text) {
  size_t digits = 0;
  while (digits < text.size() && is_digit(text[digits])) ++digits;
  return digits > 0 && digits < text.size() && (text[digits] == '.' || text[digits] == ')');
}

// Not a list of what is dangerous, which would have to be whole.
bool is_harmless(std::string_view text) {
  if (text.empty()) return true;
  const auto plain = [](char c) {
    return is_letter(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80 ||
           std::string_view(" .,-()/%").find(c) != std::string_view::npos;
  };
  if (!std::ranges::all_of(text, plain)) return false;
  const char first = text.front();
  if (first == ' ' || first == '-' || text.back() == ' ' || begins_list(text)) return false;
  return !contains_ignoring_case(text, "www.") && !may_name_issue(text) && !may_name_commit(text);
}

// Between runs of backticks longer than any inside. Text that begins or ends with one, or with a
// space, is held off by spaces, which are not shown.
std::string code_span(std::string_view text, bool in_cell) {
  if (text.empty()) return {};
  size_t run = 0, longest = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  const auto needs_gap = [](char c) { return c == '`' || c == ' '; };
  const char* gap = needs_gap(text.front()) || needs_gap(text.back()) ? " " : "";
  std::string out = fence + gap;
  for (const char c : text) {
    if (c == '|' && in_cell) out += '\\';
    out += c;
  }
  return out + gap + fence;
}

std::string inert(std::string_view text, bool always_code, bool in_cell) {
  std::string shown = screen_safe(text);
  return !always_code && is_harmless(shown) ? shown : code_span(shown, in_cell);
}

// A word with the punctuation of sentences around it: "name:", "(what?)", "doesn't", "C++,". A
// colon at its end begins no emoji, and an ampersand alone no entity.
bool is_plain_word(std::string_view word, bool is_first) {
  if (word == "&" || ((word == "-" || word == "=") && !is_first) || is_harmless(word)) return true;
  const auto is_of_number = [](char c) { return is_digit(c) || c == '.'; };
  if (!is_first && word.size() < 7 && std::ranges::all_of(word, is_of_number)) return true;
  if (word.starts_with('"') || word.starts_with('(')) word.remove_prefix(1);
  while (!word.empty() &&
         std::string_view("\"':;?!),.").find(word.back()) != std::string_view::npos)
    word.remove_suffix(1);
  if (word.size() > 2 && word.ends_with("++")) word.remove_suffix(2);
  std::string core(word);
  for (size_t i = 1; i + 1 < core.size(); ++i) {
    if (core[i] == '\'' && is_letter(core[i - 1]) && is_letter(core[i + 1])) core[i] = 'a';
  }
  return !core.empty() && (is_letter(core[0]) || !is_first) && is_harmless(core);
}

// Words in a row that are not harmless share one span.
std::string prose(std::string_view text, bool in_cell, bool begins_line = true) {
  const std::string shown = screen_safe(text);
  std::string out;
  std::string_view rest = shown, code;
  const auto add_code = [&] {
    if (code.empty()) return;
    // What ends the sentence is not part of the name, nor is a space before it.
    size_t end = code.find_last_not_of(" .,;:?!") + 1;
    if (end == 0) end = code.size();
    std::string_view name = code.substr(0, end);
    // Prose that marks its names itself needs no second mark.
    while (name.size() > 2 && name.front() == '`' && name.back() == '`')
      name = name.substr(1, name.size() - 2);
    (out += (out.empty() ? "" : " ") + code_span(name, in_cell)) += code.substr(end);
    code = {};
  };
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    if (word.empty()) continue;
    if (is_plain_word(word, begins_line && out.empty() && code.empty())) {
      add_code();
      (out += out.empty() ? "" : " ") += word;
    } else {
      if (word.find('`') != std::string_view::npos || code.find('`') != std::string_view::npos)
        add_code();
      const char* begin = code.empty() ? word.data() : code.data();
      code = std::string_view(begin, static_cast<size_t>(word.data() + word.size() - begin));
    }
  }
  add_code();
  return out;
}

std::string cell_number_text(const Column& column, size_t row, bool with_sign) {
  const double value = column.number(row);
  std::string text;
  switch (column.unit()) {
    case Unit::kCount:
      text = with_thousands(static_cast<int64_t>(value));
      break;
    case Unit::kMillis:
      text = fmt::format("{:.3f}", value);
      break;
    case Unit::kMicros:
    case Unit::kPercent:
      text = fmt::format("{:.1f}", value);
      break;
    default:
      text = fmt::format("{:.6g}", value);
  }
  if (with_sign && value > 0) text.insert(0, 1, '+');
  return text;
}

}  // namespace

std::string md_text(std::string_view text) { return inert(text, false, false); }
std::string md_prose(std::string_view text) { return prose(text, false); }
std::string md_words(std::string_view text) { return prose(text, false, false); }
std::string md_prose_cell(std::string_view text) { return prose(text, true, false); }
std::string md_code(std::string_view text) { return inert(text, true, false); }
std::string md_cell(std::string_view text) { return inert(text, false, true); }
std::string md_code_cell(std::string_view text) { return inert(text, true, true); }

std::string md_table(const Table& table, const MarkdownTableStyle& style) {
  const auto among = [](const std::vector<std::string_view>& names, const Column& column) {
    return std::ranges::find(names, column.name()) != names.end();
  };
  std::string head, rule, rows;
  for (const Column& column : table.columns()) {
    head += "| " + md_cell(column.name()) + " ";
    rule += column.is_text() ? "|---" : "|---:";
  }
  for (size_t row = 0; row < std::min(table.rows(), style.max_rows); ++row) {
    for (const Column& column : table.columns()) {
      std::string cell;
      if (column.known(row) && !column.is_text()) {
        cell = cell_number_text(column, row, among(style.signed_columns, column));
      } else if (column.known(row)) {
        std::string text(column.text(row));
        if (among(style.markdown_columns, column)) {
          rows += "| " + text + (text.empty() ? "" : " ");
          continue;
        }
        if (screen_width(text) > style.max_characters) text = fit_left(text, style.max_characters);
        cell = inert(text, among(style.code_columns, column), true);
      }
      rows += "| " + cell + (cell.empty() ? "" : " ");
    }
    rows += "|\n";
  }
  return head + "|\n" + rule + "|\n" + rows;
}

std::string md_row(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

}  // namespace fathom
