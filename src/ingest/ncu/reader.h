#pragma once

#include <string>
#include <string_view>

#include "base/byte_source.h"
#include "events/counter_set.h"

namespace fathom::ncu {

// Larger inputs are read up to here.
constexpr size_t kMaxBytes = size_t{1} << 30;

// By the first bytes, decompressed: a report file (.ncu-rep), or what ncu --csv prints, with its
// log lines.
bool recognises(std::string_view head);

// Fails where no kernel was measured. `shown`: the input's name in messages.
Result<CounterSet> read(ByteSource& source, const std::string& shown);

}  // namespace fathom::ncu
