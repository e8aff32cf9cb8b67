#pragma once

#include <string>

#include "analyze/assessment.h"
#include "analyze/finding.h"

// How urgent a finding is. Two things decide together, and both are told here only:
//
//   the rule   an op: critical = in the top operations, under 30 % of the limit and over 15 % of
//              its category's time; high = a top operation, or under 40 % and over 10 %; medium =
//              over 5 %; low = the rest. A part of the whole (idle time, exposed transfers):
//              critical over 30 % of the wall time, high over 15 %, else medium. Warm-up: medium.
//              A notable pattern: high where one of its ops is a top operation, else medium.
//   the cap    what fixing it can save of the steps' wall time: critical needs 10 %, high 5 %,
//              medium 1 %. Of an op, what its next efficiency band saves counts for the first two.
//
// So a slow op that hardly matters is never urgent. Findings are ordered by their possible saving.
namespace fathom {

// Each sets the finding's priority by the rule, and says which rule.
void rate_op(Finding& finding, bool is_top, double efficiency, double category_share);
void rate_library_op(Finding& finding);     // medium at most
void rate_part_of_whole(Finding& finding);  // by finding.share
void rate_pattern(Finding& finding, bool of_top_op);

// Lowers a priority that the possible saving does not bear, and says so.
void cap_priority(const Assessment& assessment, Finding& finding);

// The above for the readers of a report, in a few sentences.
std::string describe_priorities();

}  // namespace fathom
