#pragma once

#include <string>
#include <string_view>

namespace fathom::cpp {

// Python text that lex() can cut into tokens, every byte and line in its place: comments and
// strings over several lines (docstrings) become space, and // becomes one division. Strings
// within a line stay.
std::string mask_python(std::string_view text);

}  // namespace fathom::cpp
