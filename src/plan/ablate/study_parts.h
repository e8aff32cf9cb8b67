#pragma once

#include <span>

#include "plan/ablate/study.h"

// Parts that a study is made of.
namespace fathom::ablate {

// ---- statistics ----

std::vector<double> first_times(const Timed& timed);
double median_of_times(std::vector<double> times);
Estimate estimate_of(const std::vector<double>& times);
// From `before` to `after`; differences below noise are none.
SpeedUp speed_up(const std::vector<double>& before, const std::vector<double>& after);
// Outliers, drift, and too few runs for an interval.
void add_run_warnings(const std::vector<double>& times, std::vector<Warning>& warnings);
// Of a series of shares around 1; nothing where there is no trend.
std::optional<double> drift_percent(const std::vector<double>& series);

// ---- counters ----

std::optional<double> known_value(const HardwareValues& values, std::string_view name);
// What the kernel asked for at L1 and by TMA, or moved from and to DRAM, whichever is more.
std::optional<double> bytes_moved(const HardwareValues& values);
// Operations of vector instructions and tensor cores; unknown where tensor cores were busy and
// their operations not counted.
std::optional<double> operations_done(const HardwareValues& values);
std::vector<Moved> expected_moves(const Variant& variant, const HardwareValues* before,
                                  const HardwareValues* after);
// Of those that were expected, that the parent's hypotheses rest on, or that moved most.
std::optional<Moved> telling_move(const std::vector<Moved>& expected,
                                  const std::vector<TestedHypothesis>& tested,
                                  const HardwareValues& before, const HardwareValues& after);

// ---- the whole ----

std::string floor_reason(const std::string& in_case, double seconds, double floor);
void add_flag_effects(Study& study);
void find_next(Study& study);

}  // namespace fathom::ablate
