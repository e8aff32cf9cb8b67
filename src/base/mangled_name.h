#pragma once

#include <cstddef>
#include <string_view>

namespace fathom {

// At most so many characters, roughly, stand behind an Itanium-mangled name. Each part of a name
// may repeat the one before it twice, so that 300 bytes mean gigabytes, and a demangler writes them
// all. A repeated part is taken for as long as the longest that could be meant.
double demangled_length_at_most(std::string_view mangled);

}  // namespace fathom
