#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "session/log_pattern.h"
#include "trial/command.h"
#include "trial/observation.h"

namespace fathom {

// The measurable of one run, by the names of data/plan/metrics.tsv.

// wall_time, cpu_time, peak_host_memory, exit_status.
Observations observe_end(const TrialEnd& end);

// The numbers that patterns find in what the program printed: log_value of each pattern's name.
Observations observe_log(std::string_view log, const std::vector<LogPattern>& patterns);

// What a recording holds: kernels with durations and counters, idle time, iterations, ranges,
// numbers. `story`: its execution story in Markdown, where one can be told. Any trace that
// `fathom analyze` reads will do.
struct ObservedCapture {
  Observations observations;
  std::string story;
};
Result<ObservedCapture> observe_capture(const std::string& path);

// Adds the values of `more` behind those of the same metric and subject.
void append_observations(Observations& all, Observations more);

}  // namespace fathom
