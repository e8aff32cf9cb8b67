#pragma once

#include <span>
#include <string>

#include "analyze/finding.h"
#include "base/json_writer.h"

namespace fathom {

// "places": [{"file": …, "line": …}, …]
void write_places(JsonWriter& json, std::span<const Place> places);
// "`model.py:69 mid` in Llama_0/Block_* (61 %), …"; empty where no place is known.
std::string md_places(const Finding& finding);
// The first place for a cell of a table.
std::string md_first_place(const Finding& finding);

}  // namespace fathom
