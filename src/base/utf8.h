#pragma once

#include <string>
#include <string_view>

namespace fathom {

// Bytes that are no UTF-8 become '?', one for one, so that places in the text stay what they are.
std::string with_valid_utf8(std::string_view text);

// The length of the character at `at` where a reader would not see it, or would see others out of
// order; 0 where it is shown. Control characters, line separators, direction marks, zero-width
// characters, tags. Joiners and variation selectors count only where they join nothing: emoji and
// several scripts are written with them.
size_t unseen_length(std::string_view text, size_t at);

// The character at `at`, which is valid UTF-8.
char32_t character_at(std::string_view text, size_t at);

// Unseen characters as \n, \t, \r or \u202e, bytes that are no UTF-8 as '?'; those in `kept` stay.
std::string with_unseen_escaped(std::string_view text, std::string_view kept = {});

// At most so many bytes of it, whole characters, and an ellipsis where something was cut.
std::string cut_to_bytes(std::string_view text, size_t bytes);

}  // namespace fathom
