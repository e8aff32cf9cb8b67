#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace fathom::bench {

struct FloorResult {
  double seconds = 0;
  int64_t json_bytes = 0;
  int64_t events = 0;
};

// The least that any reader of a trace must do: decompress it into one buffer that is used again
// (ISA-L), and walk every key of every event (simdjson); nothing is kept. One thread.
Result<FloorResult> measure_floor(const std::string& path);

}  // namespace fathom::bench
