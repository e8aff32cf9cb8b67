#pragma once

#include <string>

#include "base/table.h"

namespace fathom {

// RFC 4180 with line feeds: header, then a line for each row; an unknown cell is empty. Text that a
// spreadsheet would run as a formula gets an apostrophe before it. Control characters other than
// line breaks and tabs, and what nobody would see, are escaped: \u001b.
std::string to_csv(const Table& table);

}  // namespace fathom
