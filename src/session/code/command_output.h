#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "plan/ablate/suite.h"
#include "session/log_pattern.h"
#include "trial/command.h"

// What the output of an ablation's commands tells.
namespace fathom::ablate {

std::string last_line(std::string_view text);
// Why a command did not do what it should, with the lines that tell most.
std::string end_reason(const TrialEnd& end, double limit_s, std::string_view output);
// The median of all numbers that fit, over the lines.
std::optional<double> printed_number(const LogPattern& pattern, std::string_view output);
// Times differ in each run, so they are no output that can be right or wrong.
Result<std::string> without_times(std::string output, const Timing& timing);

}  // namespace fathom::ablate
