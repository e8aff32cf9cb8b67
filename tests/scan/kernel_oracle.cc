#include "scan/kernel_oracle.h"

#include <algorithm>
#include <cctype>
#include <compare>
#include <cstddef>
#include <set>

namespace fathom::test {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

void blank(std::string& text, size_t begin, size_t end) {
  for (size_t i = begin; i < std::min(end, text.size()); ++i) {
    if (text[i] != '\n') text[i] = ' ';
  }
}

size_t end_of(const std::string& text, std::string_view mark, size_t from) {
  return std::min(text.find(mark, from), text.size() - mark.size()) + mark.size();
}

// The end of the quoted text that opens at `at`; it never goes over its line.
size_t quoted_end(const std::string& text, size_t at) {
  for (size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == text[at]) {
      return i + 1;
    } else if (text[i] == '\n') {
      return i;
    }
  }
  return text.size();
}

void blank_comments_and_strings(std::string& text) {
  for (size_t i = 0; i + 1 < text.size();) {
    size_t end = i + 1;
    if (text.compare(i, 2, "//") == 0) {
      end = i;
      while (end < text.size() && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
    } else if (text.compare(i, 2, "/*") == 0) {
      end = end_of(text, "*/", i + 2);
    } else if (text.compare(i, 2, "R\"") == 0 && (i == 0 || !is_word(text[i - 1]))) {
      const size_t open = text.find('(', i);
      if (open == std::string::npos) return;
      end = end_of(text, ")" + text.substr(i + 2, open - i - 2) + "\"", open);
    } else if (text[i] == '"' || (text[i] == '\'' && (i == 0 || !is_word(text[i - 1])))) {
      end = quoted_end(text, i);
    } else {
      ++i;
      continue;
    }
    blank(text, i, end);
    i = end;
  }
}

// Makes directives blank, and with `first_branch` everything but the first branch of each #if.
void blank_directives(std::string& text, bool first_branch) {
  std::vector<bool> taken;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
    end = std::min(end, text.size());
    const size_t first = text.find_first_not_of(" \t", at);
    const bool directive = first < end && text[first] == '#';
    if (directive) {
      const size_t word = text.find_first_not_of(" \t", first + 1);
      if (text.compare(word, 2, "if") == 0) taken.push_back(true);
      if (text.compare(word, 2, "el") == 0 && !taken.empty()) taken.back() = false;
      if (text.compare(word, 5, "endif") == 0 && !taken.empty()) taken.pop_back();
    }
    const bool left_out = std::find(taken.begin(), taken.end(), false) != taken.end();
    if (directive || (first_branch && left_out)) blank(text, at, end);
    at = end + 1;
  }
}

bool is_attribute(std::string_view name) { return name.starts_with("__") && name.ends_with("__"); }

// The name that stands before the bracket at `open`, template arguments passed over.
std::string name_before(const std::string& text, size_t from, size_t open) {
  size_t end = open;
  int angles = 0;
  while (end > from) {
    const char c = text[end - 1];
    if (c == '>') ++angles;
    if (angles == 0 && is_word(c)) break;
    if (c == '<') --angles;
    --end;
  }
  size_t begin = end;
  while (begin > from && is_word(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

void find_kernels(const std::string& text, std::set<OracleKernel>& out) {
  constexpr std::string_view kWord = "__global__";
  for (size_t at = 0; (at = text.find(kWord, at)) != std::string::npos; at += kWord.size()) {
    std::string name;
    int depth = 0;
    for (size_t i = at + kWord.size(); i < text.size(); ++i) {
      if (text[i] == '(' && depth++ == 0) {
        // Before the last brackets stands the name; the others are attributes and macros for them.
        const std::string before = name_before(text, at + kWord.size(), i);
        if (!is_attribute(before)) name = before;
      }
      if (text[i] == ')') --depth;
      if (text[i] == ';' && depth == 0) break;
      if (text[i] != '{' || depth != 0) continue;
      for (int braces = 0; i < text.size(); ++i) {
        if (text[i] == '{') ++braces;
        if (text[i] == '}' && --braces == 0) break;
      }
      const auto lines = std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(i), '\n');
      out.insert({name, static_cast<uint32_t>(lines + 1)});
      break;
    }
  }
}

}  // namespace

std::vector<OracleKernel> literal_kernels(std::string_view source) {
  std::string text(source);
  blank_comments_and_strings(text);
  // A header that is split by an #if needs one branch, kernels in the other branch need both.
  std::set<OracleKernel> found;
  for (const bool first_branch : {false, true}) {
    std::string one = text;
    blank_directives(one, first_branch);
    find_kernels(one, found);
  }
  return {found.begin(), found.end()};
}

}  // namespace fathom::test
