#pragma once

#include "plan/plan.h"
#include "session/log_pattern.h"
#include "trial/observation.h"

namespace fathom {

// The patterns that find a plan's numbers in the output of an experiment: those given to record,
// and those that requirements and expectations name.
std::vector<LogPattern> log_patterns_of(const Plan& plan, const Experiment& experiment);

// Adds the metrics that the plan ties to a log line or a probe: "ttft" where a requirement names
// 'TTFT: {float} ms' is that line's number, in the metric's unit.
void add_planned_metrics(const Plan& plan, const Experiment& experiment, Observations& run);

}  // namespace fathom
