#pragma once

#include <string>
#include <string_view>

namespace fathom {

// What the text between a JSON string's quotes stands for. Escapes that JSON does not know stand
// for the character itself; half a surrogate pair becomes U+FFFD.
std::string json_unescaped(std::string_view text);

}  // namespace fathom
