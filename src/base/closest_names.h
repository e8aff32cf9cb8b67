#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

// What somebody may have meant: the names that take fewest changes of a character to become
// `name`, those that contain it first. At most `count`; none that differ in over a third of it.
std::vector<std::string> closest_names(std::string_view name, std::span<const std::string> names,
                                       size_t count);

// The end of a message about a name that is none: "; did you mean 'analyze'?", or nothing.
std::string did_you_mean(std::string_view name, std::span<const std::string> names);

}  // namespace fathom
