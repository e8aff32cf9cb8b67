#pragma once

#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "base/table.h"

namespace fathom {

// A text of a trace or a repository for a page: cut, and without characters that nobody sees.
std::string page_text(std::string_view text, size_t most = 400);

// {"name", "columns": [{"name", "unit", "text"}], "values": [a list for each column], "rows",
// "left_out"}; an unknown cell is null. The first rows of a large table.
void write_page_table(JsonWriter& json, const Table& table);

}  // namespace fathom
