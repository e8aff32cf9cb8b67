#pragma once

#include <string>

namespace fathom::cpp {

// C++ source with its rarer spellings written as the common ones, every line in its place and the
// size unchanged: a name or sign that a backslash splits over lines is whole, with the line breaks
// behind it, and digraphs outside strings and comments (<% %> <: :> %:) are { } [ ] #, and
// HIP's hipThreadIdx_x is threadIdx.x. Trigraphs stay: C++17 has none.
std::string plain_spelling(std::string text);

}  // namespace fathom::cpp
