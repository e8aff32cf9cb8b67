#pragma once

#include <string_view>

#include "events/counter_set.h"

namespace fathom::ncu {

// Whether a line is, or ends in, the header of a page that ncu --csv prints; npos: it is not.
size_t find_page_header(std::string_view line);

// All tables of the text, raw and details pages in any mix. Log lines and the program's own output
// may stand before, between and after them.
void read_pages(std::string_view text, CounterSetBuilder& builder);

}  // namespace fathom::ncu
