#pragma once

#include <optional>
#include <string>

#include "base/byte_source.h"
#include "base/result.h"
#include "events/counter_set.h"

namespace fathom::capture {

// What `fathom record --counters` counted: a row for each kernel and the way it is launched, with
// the median of each metric over the launches that were counted. Nothing where there are none.
Result<std::optional<CounterSet>> read_counters(ByteSource& source, const std::string& shown);

}  // namespace fathom::capture
