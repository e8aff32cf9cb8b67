#pragma once

#include <string_view>

#include "events/event.h"

namespace fathom::kineto {

// The kind of a complete event (ph X) by its category, old spellings included. kOther: known and
// used by no sheet, or not known at all; `known` tells which.
struct KindOfCategory {
  EventKind kind = EventKind::kOther;
  bool known = false;
};

KindOfCategory kind_of_category(std::string_view category);

}  // namespace fathom::kineto
