#include "scan/names_in_strings.h"

#include <algorithm>

#include "base/glob.h"
#include "scan/facts/text_lines.h"

namespace fathom {
namespace {

// A pattern with fewer letters of its own would fit names that are not meant.
constexpr size_t kMinPatternLetters = 8;

size_t length_bit(size_t length) { return std::min<size_t>(length, 63); }

// Generated code that uses it: "&gemm<128, {n}>", "gemm<{n}><<<…".
bool is_instantiated(std::string_view text, size_t begin, size_t end) {
  const bool address = begin > 0 && text[begin - 1] == '&';
  return address || text.substr(end).starts_with('<');
}

// The end of a file's name that begins with the word between `begin` and `end`: "gemm.cu".
size_t file_name_end(std::string_view text, size_t end) {
  if (end >= text.size() || text[end] != '.') return end;
  size_t at = end + 1;
  while (at < text.size() && is_word_character(text[at])) ++at;
  return at;
}

// `with_files`: also names of files, which are compiled when the program runs.
void find_words(std::string_view text, uint32_t line, const WantedNames& wanted,
                NamesInStrings& found, bool with_files = true) {
  for (size_t at = 0; at < text.size();) {
    if (!is_word_character(text[at])) {
      if (text[at] == '\n') ++line;
      ++at;
      continue;
    }
    const size_t begin = at;
    while (at < text.size() && is_word_character(text[at])) ++at;
    const std::string_view word = text.substr(begin, at - begin);
    const std::string_view file = text.substr(begin, file_name_end(text, at) - begin);
    if (with_files && file.size() > word.size() && wanted.contains(file)) found.names.emplace(file);
    if (!wanted.contains(word)) continue;
    found.names.emplace(word);
    if (word.size() == text.size() || is_instantiated(text, begin, at))
      found.alone.emplace(word, line);
  }
}

// A literal without prefix and quotes.
std::string_view inner_text(std::string_view literal) {
  const size_t open = literal.find_first_of("'\"");
  if (open == std::string_view::npos) return literal;
  const std::string_view rest = literal.substr(open);
  const size_t quotes = rest.size() >= 6 && rest[1] == rest[0] && rest[2] == rest[0] ? 3 : 1;
  return rest.size() < 2 * quotes ? "" : rest.substr(quotes, rest.size() - 2 * quotes);
}

// The words of an f-string that have fields in them: '*' where a field stands.
void find_patterns(std::string_view text, uint32_t line, const WantedNames& wanted,
                   NamesInStrings& found) {
  const auto part = [](char c) { return is_word_character(c) || c == '*'; };
  for (size_t at = 0; at < text.size();) {
    if (!part(text[at])) {
      ++at;
      continue;
    }
    const size_t begin = at;
    while (at < text.size() && part(text[at])) ++at;
    const std::string_view pattern = text.substr(begin, at - begin);
    const size_t first_field = pattern.find('*');
    // What begins with a field could be anything.
    if (first_field == std::string_view::npos || first_field < kMinPatternLetters) continue;
    const std::string_view fixed = pattern.substr(0, first_field);
    const Names& names = wanted.in_order();
    for (auto name = names.lower_bound(fixed); name != names.end() && name->starts_with(fixed);
         ++name) {
      if (!glob_matches(pattern, *name)) continue;
      found.names.insert(*name);
      if (pattern.size() == text.size()) found.alone.emplace(*name, line);
    }
  }
}

}  // namespace

WantedNames::WantedNames(const Names& names) : names_(names), lookup_(names.begin(), names.end()) {
  for (const std::string& name : names) lengths_ |= uint64_t{1} << length_bit(name.size());
}

bool WantedNames::contains(std::string_view word) const {
  return (lengths_ >> length_bit(word.size()) & 1) != 0 && lookup_.contains(word);
}

void find_names_in_strings(const cpp::TokenList& source, const WantedNames& wanted,
                           NamesInStrings& found) {
  for (size_t i = 0; i < source.size(); ++i) {
    if (source.tokens[i].kind != cpp::TokenKind::kString) continue;
    std::string_view text = source.at(i);
    if (text.size() >= 2 && text.starts_with('"')) text = text.substr(1, text.size() - 2);
    find_words(text, source.tokens[i].line, wanted, found);
  }
}

void find_names_in_rust_strings(std::string_view text, const WantedNames& wanted,
                                NamesInStrings& found) {
  uint32_t line = 1;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') ++line;
    if (text.substr(i).starts_with("//")) {
      i = std::min(text.find('\n', i), text.size()) - 1;
      continue;
    }
    // '"' is a character and no string.
    if (text[i] == '\'' && text.substr(i).starts_with("'\"'")) i += 2;
    if (text[i] != '"') continue;
    const size_t begin = i + 1;
    for (++i; i < text.size() && text[i] != '"'; ++i) {
      if (text[i] == '\\') ++i;
    }
    const std::string_view literal =
        text.substr(begin, std::min(i, text.size()) - std::min(begin, text.size()));
    find_words(literal, line, wanted, found);
    line += static_cast<uint32_t>(std::count(literal.begin(), literal.end(), '\n'));
  }
}

namespace {

// (folder / "gemm.cu").read_text(), open("gemm.cu"): lists of sources to build name files, too.
bool reads_a_file(const python::TokenList& source, uint32_t string) {
  constexpr uint32_t kNear = 24;
  const uint32_t line = source.tokens[string].line;
  const auto last = std::min<size_t>(source.tokens.size(), size_t{string} + kNear);
  for (size_t i = string - std::min(string, kNear); i < last; ++i) {
    if (source.tokens[i].line != line) continue;
    const std::string_view word = source.at(static_cast<uint32_t>(i));
    if (word == "read_text" || word == "read_bytes" || word == "open" || word == "read")
      return true;
  }
  return false;
}

}  // namespace

void find_names_in_strings(const python::TokenList& source, const WantedNames& wanted,
                           NamesInStrings& found) {
  using python::TokenKind;
  for (uint32_t i = 0; i < source.tokens.size(); ++i) {
    const TokenKind kind = source.tokens[i].kind;
    const uint32_t line = source.tokens[i].line;
    if (kind == TokenKind::kString) {
      // An expression statement that is a string alone is a docstring: prose.
      const bool alone = i == 0 || source.tokens[i - 1].kind == TokenKind::kNewline ||
                         source.tokens[i - 1].kind == TokenKind::kIndent;
      std::string text;  // literals that stand side by side are one
      for (; i < source.tokens.size() && source.tokens[i].kind == TokenKind::kString; ++i) {
        text += inner_text(source.at(i));
      }
      --i;
      // CUDA source names the kernels that it defines; it is read as what it is elsewhere.
      const bool source_code = holds(text, "__global__");
      if (!alone && !source_code) find_words(text, line, wanted, found, reads_a_file(source, i));
    } else if (kind == TokenKind::kFStringBegin) {
      std::string text;
      for (int depth = 0;
           i < source.tokens.size() && source.tokens[i].kind != TokenKind::kFStringEnd; ++i) {
        const TokenKind inner = source.tokens[i].kind;
        if (inner == TokenKind::kFieldOpen && depth++ == 0) text += '*';
        if (inner == TokenKind::kFieldClose) --depth;
        if (inner == TokenKind::kFStringText && depth == 0) text += source.at(i);
      }
      find_words(text, line, wanted, found, false);
      find_patterns(text, line, wanted, found);
    }
  }
}

}  // namespace fathom
