#pragma once

#include <optional>
#include <string>

#include "plan/ablate/study.h"

namespace fathom::ablate {

struct ReportOptions {
  std::optional<double> cost_per_hour;
  std::string currency = "$";
};

// OPTIMIZATION_REPORT.md
std::string optimization_report(const Study& study, const ReportOptions& options);
// ablation.json
std::string study_json(const Study& study, const ReportOptions& options);
// From the baseline to the best: what each step on the way took off, in seconds. Empty where
// nothing was timed.
struct WaterfallBar {
  enum class Kind : uint8_t { kBaseline, kBetter, kWorse, kNotKept, kBest, kFloor };
  std::string name, words;
  double from = 0, to = 0;
  Kind kind = Kind::kBaseline;
};
std::vector<WaterfallBar> waterfall_bars(const Study& study);
// waterfall.svg: the time of the baseline, what each kept change saved, and what is left over the
// floor. Empty where nothing was timed.
std::string waterfall_svg(const Study& study);
// For the terminal.
std::string study_text(const Study& study, bool color);
// `fathom ablate next`
std::string next_text(const Study& study);
std::string next_json(const Study& study);

}  // namespace fathom::ablate
