#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trial/fit.h"
#include "trial/statistics.h"

namespace fathom {

// "12.35 ms", "1.20 GB", "87.1 %", "3.5 tokens/s": a value in a unit of data/plan/metrics.tsv.
// Times and bytes get the unit that suits them.
std::string measured_text(double value, std::string_view unit);
// "12.35 ms [12.10 ms, 12.71 ms]": the median, with the interval where there is one.
std::string median_text(const SampleSummary& summary, std::string_view unit);
// "12.1 … 12.4 ms │██████      │ 12": at most `bins` lines.
std::vector<std::string> histogram_lines(std::span<const double> values, std::string_view unit,
                                         size_t bins = 10);
// Of times: "1.52 × faster [1.49, 1.55]", "1.10 × slower […]", "no difference [0.99, 1.02]", "not
// known: 95 % needs 4 runs of each". The second sample against the first.
std::string faster_text(const SampleComparison& comparison);
// "linear: 1.20 ms + 3.0 µs · x, R² 0.998, largest residual 4.1 %"
std::string fit_text(const Fit& fit, std::string_view unit, std::string_view x_name);
// What a reader must know of a sample: outliers, drift, too few values. Empty: nothing.
std::vector<std::string> sample_warnings(const SampleSummary& summary, std::string_view unit);

}  // namespace fathom
