#pragma once

#include <string>
#include <string_view>

namespace fathom {

// Text from a trace or a repository made safe to print: control characters, which could move the
// cursor or worse, direction marks and what nobody would see are escaped: \u001b.
std::string screen_safe(std::string_view text);

// Columns that a text takes, one for each character.
size_t screen_width(std::string_view text);

// Cut to a width with an ellipsis, or filled with spaces.
std::string fit_left(std::string_view text, size_t width);
// Only cut: with an ellipsis where it is longer.
std::string shortened(std::string_view text, size_t width = 80);

}  // namespace fathom
