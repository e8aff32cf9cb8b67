#pragma once

#include <string>
#include <string_view>

namespace fathom::ablate {

// Two texts as the hunks of a unified diff, three lines of context; empty: they are equal. Cost is
// linear: beyond a bound of work the rest is shown as replaced. At most `most_lines` lines; what is
// left out is counted in the last.
std::string line_diff(std::string_view before, std::string_view after, size_t most_lines);

}  // namespace fathom::ablate
