#pragma once

#include <string_view>

namespace fathom {

// Whole-text match where * is any run and ? any one character. Linear for each *: no pattern or
// text from outside can make it explode, as a regular expression could.
bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace fathom
