#pragma once

#include "plan/run/results.h"

// The configurations of an experiment held against each other.
namespace fathom {

// What is worth a comparison or a fit: times first, the run's own before those of its parts.
// Below 0: it is not.
int interest(const MetricResult& metric);

// Each configuration against the first.
void compare_configurations(ExperimentResult& result);
// Metrics along a setting that alone differs.
void fit_settings(ExperimentResult& result);
// Ranges whose names differ in a number only.
void number_ranges(ExperimentResult& result);

}  // namespace fathom
