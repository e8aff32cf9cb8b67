#pragma once

#include <string>
#include <vector>

#include "scan/cpp/brackets.h"
#include "scan/cpp/tokens.h"

namespace fathom::cpp {

// Tokens `first` to before `last`.
struct Range {
  size_t first = 0, last = 0;
  bool empty() const { return first >= last; }
};

// A source with its brackets.
struct Code {
  const TokenList& source;
  const Brackets& brackets;

  bool is(size_t i, std::string_view wanted) const { return source.is(i, wanted); }
  bool is_any(size_t i, std::initializer_list<std::string_view> wanted) const {
    return source.is_any(i, wanted);
  }
  std::string text(Range range) const { return source.source(range.first, range.last); }
  // The token after what begins at `i`: past a bracket's partner, or one on.
  size_t past(size_t i) const {
    return brackets.closed(i) && brackets.partner(i) > i ? brackets.partner(i) + 1 : i + 1;
  }
};

// What the bracket at `open` holds, cut at its commas; none where it is empty or never closed.
std::vector<Range> arguments_of(const Code& code, size_t open);

// The arguments inside a range, cut at its commas.
std::vector<Range> split_arguments(const Code& code, Range inside);

// "a, f(b, c)" → "a", "f(b, c)"
std::vector<std::string> listed_arguments(std::string_view text);

// From the token after = or the like to the ; , or closing bracket that ends the value.
Range value_from(const Code& code, size_t first);

// A name with its qualifiers and template arguments: a::B<int>::c<T>.
struct Path {
  Range all;
  std::vector<size_t> names;      // tokens of a, B, c
  std::vector<size_t> arguments;  // tokens of the < behind each; SIZE_MAX: none
  bool valid() const { return !names.empty(); }
};
Path path_from(const Code& code, size_t first, size_t limit);  // that begins here
Path path_before(const Code& code, size_t end);                // that ends before here

// The path as text, template arguments left out.
std::string path_name(const Code& code, const Path& path);
// The template arguments of its last name, as written.
std::string path_arguments(const Code& code, const Path& path);

}  // namespace fathom::cpp
