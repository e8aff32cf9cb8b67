#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fathom {

// A default that can be compared: a number, a word, a truth value, in lower case. Others are
// computed.
std::optional<std::string> plain_value(std::string_view text);

// Whether two of them are one value: 1_024 and 1024, on and true, a file and the end of its path.
bool same_value(const std::string& a, const std::string& b);

}  // namespace fathom
