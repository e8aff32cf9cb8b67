#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/table.h"

namespace fathom {

// A picture of a question's answer, as SVG; empty: the question has none, or the answer no row.
// Of many rows the first are drawn.
std::string answer_drawing(std::string_view question, const Table& answer);

// Cells by the name of their column; 0 and nothing where it is not there or unknown.
double number_in(const Table& table, std::string_view name, size_t row);
std::string_view text_in(const Table& table, std::string_view name, size_t row);

}  // namespace fathom
