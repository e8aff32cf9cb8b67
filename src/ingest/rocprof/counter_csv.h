#pragma once

#include <string>
#include <string_view>

#include "base/byte_source.h"
#include "events/counter_set.h"

// The counters of AMD's tools. They count a grid in work-items, and give totals without dimensions.
namespace fathom::rocprof::counters {

// Larger inputs are read up to here.
constexpr size_t kMaxBytes = size_t{1} << 30;

// By the first line: rocprofv3's counter_collection.csv (a line for each counter), the results.csv
// of rocprof v1 and v2, and rocprof-compute's pmc_perf.csv (a column for each counter).
bool recognises(std::string_view head);

// Fails where no dispatch was measured. `shown`: the input's name in messages.
Result<CounterSet> read(ByteSource& source, const std::string& shown);

// The machine, from rocprof-compute's sysinfo.csv, which lies beside pmc_perf.csv.
struct SystemFacts {
  std::string gpu, architecture, version;  // "MI300X_A1", "gfx942", the ROCm version
};
std::optional<SystemFacts> read_sysinfo(std::string_view text);

}  // namespace fathom::rocprof::counters
