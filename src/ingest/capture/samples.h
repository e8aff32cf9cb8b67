#pragma once

#include <optional>
#include <string>

#include "base/byte_source.h"
#include "base/result.h"
#include "events/stall_samples.h"

namespace fathom::capture {

// What `fathom record --pc-sampling` sampled, summed over the recording. Nothing where there are
// none.
Result<std::optional<StallSamples>> read_samples(ByteSource& source, const std::string& shown);

}  // namespace fathom::capture
