#pragma once

#include <optional>
#include <string>

#include "base/byte_source.h"
#include "base/result.h"
#include "events/counter_set.h"

namespace fathom::capture {

// What `fathom record --pm-sampling` saw while each kernel ran: a row for each kernel and the way
// it is launched, and for each graph whose kernels were not recorded. A sample during which two
// different ones ran is nobody's. Nothing where there are no samples.
Result<std::optional<CounterSet>> read_sampled_counters(ByteSource& source,
                                                        const std::string& shown);

}  // namespace fathom::capture
