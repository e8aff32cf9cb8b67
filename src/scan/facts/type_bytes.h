#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fathom {

// The size of a type by its name in C++, CUDA or a library that many use; none: not known.
std::optional<uint32_t> bytes_of_type_name(std::string_view type);

// Whether the name is of a whole number's type: "size_t", "unsigned int".
bool is_integer_type_name(std::string_view type);

}  // namespace fathom
