#pragma once

#include <string_view>
#include <vector>

namespace fathom {

// The rows of a data file, fields split at tabs: comments (#), empty lines and the header are left
// out, short rows filled up with empty fields. Views of the text.
std::vector<std::vector<std::string_view>> read_tsv(std::string_view text, size_t columns);

// The pieces between separators; an empty text has none.
std::vector<std::string_view> split(std::string_view text, char separator);

}  // namespace fathom
