#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fathom::kineto {

// Follows strings, escapes and brackets through JSON text that comes in pieces.
class BracketScanner {
 public:
  struct Found {
    // End of the last value that closed at depth 0, counted from the start of the piece.
    std::optional<size_t> last_value_end;
    // The bracket that closes the list we are in; nothing after it was looked at.
    std::optional<size_t> list_end;
    // A line break inside a string, which JSON does not allow: a quote is missing or one too many,
    // and what looks like a string is not. Nothing after it was looked at.
    std::optional<size_t> broken_string;
  };
  Found scan(std::string_view piece);

 private:
  bool in_string_ = false, escaped_ = false;
  int64_t depth_ = 0;
};

}  // namespace fathom::kineto
