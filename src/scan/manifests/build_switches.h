#pragma once

#include <string_view>
#include <vector>

#include "scan/files/repository.h"

namespace fathom {

// What a CMake file lets the person who builds choose: option(), cmake_dependent_option() and
// variables of the cache with a help text. `at.file` is left to the caller.
std::vector<BuildSwitch> cmake_switches(std::string_view text);

// Of all CMake files of the repository's own, in order of file and line; each name once.
std::vector<BuildSwitch> find_build_switches(const Repository& repository);

}  // namespace fathom
