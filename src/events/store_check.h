#pragma once

#include <cstddef>

#include "events/event_columns.h"

namespace fathom {

// Whether every number in the columns that stands for a row of another table, a text or a flag
// can be used as one. A file from outside must be, before anything reads its columns.
bool are_sound(const EventViews& columns, size_t text_count);

}  // namespace fathom
