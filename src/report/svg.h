#pragma once

#include <string>
#include <string_view>

// The parts of small drawings.
namespace fathom {

// Light or dark, as the reader's screen is. Classes: "grid" and "line" for strokes, "back" for what
// has the colour of the page.
std::string svg_begin(int width, int height);

// Text that somebody else chose: inert, without what XML does not allow, up to `most` bytes.
std::string svg_safe(std::string_view text, size_t most);

}  // namespace fathom
