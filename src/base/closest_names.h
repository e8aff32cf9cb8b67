#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

// What somebody may have meant: the names that take fewest changes of a character to become
// `name`, those that contain it first. At most `count`; none that have little in common with it.
std::vector<std::string> closest_names(std::string_view name, std::span<const std::string> names,
                                       size_t count);

}  // namespace fathom
