#pragma once

#include <string_view>

namespace fathom {

// For bug reports: version and commit on the first line, compiler and kind of build on the second.
// Written by build_info.cmake.
std::string_view version_text();

}  // namespace fathom
