#pragma once

#include <string_view>

namespace fathom {

// Whether this is one JSON value as the standard has it, in valid UTF-8 and with at most 64
// brackets in each other: text that may be put into a document as it is.
bool is_json(std::string_view text);

}  // namespace fathom
