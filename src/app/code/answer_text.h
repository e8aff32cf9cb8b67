#pragma once

#include <span>
#include <string>

#include "base/table.h"
#include "report/screen.h"
#include "session/query/schema.h"

namespace fathom {

// An answer in columns for the screen, at most `limit` rows of it (0: all), then how many there are
// and, where some are left out, `how_to_see_all`. Text of the trace is made inert.
std::string answer_text(const Table& answer, const TerminalStyle& style, size_t limit,
                        std::string_view how_to_see_all);
// A list with an object for each row; unknown is null. `truths` are the columns of true and false.
std::string answer_json(const Table& answer, std::span<const size_t> truths);

// What `query --schema` prints of the tables, or of one.
std::string schema_text(const SchemaTable* only);
std::string schema_json(const SchemaTable* only);

}  // namespace fathom
