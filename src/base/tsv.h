#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

// The rows of a data file, fields split at tabs: comments (#), empty lines and the header are left
// out, short rows filled up with empty fields. Views of the text.
std::vector<std::vector<std::string_view>> read_tsv(std::string_view text, size_t columns);

// The pieces between separators; an empty text has none.
std::vector<std::string_view> split(std::string_view text, char separator);

// A string that ends with the statement would leave views of nothing behind.
template <std::same_as<std::string> Temporary>
std::vector<std::vector<std::string_view>> read_tsv(Temporary&& text, size_t columns) = delete;
template <std::same_as<std::string> Temporary>
std::vector<std::string_view> split(Temporary&& text, char separator) = delete;

}  // namespace fathom
