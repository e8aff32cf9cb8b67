#pragma once

#include <string>
#include <string_view>

namespace fathom {

// What a file that is no text of ours is, by its first bytes (a few hundred are enough), and what
// to do with it: "a ZIP archive; unpack it first". Empty: it may be text. `name` decides only where
// binary content has no mark of its own.
std::string describe_binary(std::string_view head, std::string_view name);

}  // namespace fathom
