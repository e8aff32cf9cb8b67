#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plan/run/results.h"

namespace fathom {

// results.md: expected beside actual observations, for people.
std::string results_markdown(const PlanResults& results);
// pictures/ID.svg: what was expected beside what was measured, and the configurations beside each
// other. Empty: nothing was measured.
std::string experiment_drawing(const ExperimentResult& of);
// results.json (docs/run.md).
std::string results_json(const PlanResults& results);
// Names and contents of tables/*.csv: metrics, expected, comparisons, scaling, runs.
std::vector<std::pair<std::string, std::string>> results_tables(const PlanResults& results);
// For the terminal: what was confirmed, what was a surprise, what was not measured.
std::string results_summary(const PlanResults& results);

// "1.20 ms to 1.40 ms", "at most 3 %", "unknown".
std::string expected_range_text(const ExpectedObservation& expected, std::string_view unit);

}  // namespace fathom
