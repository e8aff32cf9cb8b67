#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_parts.h"

namespace fathom::cpp {

enum class TokenKind : uint8_t {
  kIdentifier,
  kNumber,
  kString,
  kCharacter,
  kPunctuator,
  kDirective
};

// A piece of C, C++, CUDA or HIP source. Comments are none. A preprocessor directive is one token,
// with its continued lines. `<<<`, `::`, `->` and the comparisons are one token each, but `<` and
// `>` always stand alone, so that closing nested template arguments is the same as closing one.
// Digraphs are tokens as they stand (plain_spelling.h replaces them).
struct Token {
  TokenKind kind;
  uint32_t begin, end;  // bytes of the text
  uint32_t line;        // of its first byte, from 1
};

// A source text and its tokens. The text must outlive it.
struct TokenList {
  std::string_view text;
  std::vector<Token> tokens;

  size_t size() const { return tokens.size(); }
  std::string_view at(size_t i) const {
    return text.substr(tokens[i].begin, tokens[i].end - tokens[i].begin);
  }
  bool is(size_t i, std::string_view wanted) const {
    if (i >= tokens.size() || tokens[i].end - tokens[i].begin != wanted.size()) return false;
    // Nearly all differ here, which is far cheaper than comparing the whole.
    if (wanted.empty() || text[tokens[i].begin] != wanted[0]) return wanted.empty();
    return wanted.size() == 1 || at(i) == wanted;
  }
  bool is_any(size_t i, std::initializer_list<std::string_view> wanted) const {
    return i < tokens.size() && is_one_of(at(i), wanted);
  }
  bool is_name(size_t i) const {
    return i < tokens.size() && tokens[i].kind == TokenKind::kIdentifier;
  }
  // The source from the first token to before the last, on one line; comments, directives and all
  // but the first branch of an #if left out.
  std::string source(size_t first, size_t last) const;
  // The bracket that closes the ( [ or { at `open`; size() where nothing does.
  size_t closing(size_t open) const;
  // The > that closes the < at `open`, where it opens template arguments; size() where it does not.
  size_t closing_angle(size_t open) const;
};

// Cuts any text into tokens; unfinished strings and comments end with their line or the text. What
// an #if 0 leaves out has none.
TokenList lex(std::string_view text);

// The tokens of a Jinja template of C++: its tags are no tokens, but parts of names that hold one
// are read as the template writes them, "{{ name }}_kernel".
TokenList lex_jinja(std::string_view text);

// The same of a text in another program, which may fill in the names of kernels by its own means:
// "void {name}_kernel(", "void %s(".
TokenList lex_filled(std::string_view text);

// Jinja's tags made harmless, every byte and line in its place: {{ x }} becomes part of a name,
// {% … %} and {# … #} become space.
std::string blank_jinja(std::string_view text);

}  // namespace fathom::cpp
