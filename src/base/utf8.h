#pragma once

#include <string>
#include <string_view>

namespace fathom {

// Bytes that are no UTF-8 become '?', one for one, so that places in the text stay what they are.
std::string with_valid_utf8(std::string_view text);

// At most so many bytes of it, whole characters, and an ellipsis where something was cut.
std::string cut_to_bytes(std::string_view text, size_t bytes);

}  // namespace fathom
