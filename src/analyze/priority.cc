#include "analyze/priority.h"

#include <fmt/format.h>

#include "analyze/finding_parts.h"

namespace fathom {
namespace {

struct Cap {
  Priority priority;
  double least_saving;  // of the wall time
};
constexpr Cap kCaps[] = {
    {Priority::kCritical, 0.10}, {Priority::kHigh, 0.05}, {Priority::kMedium, 0.01}};

void rate(Finding& finding, Priority priority, std::string_view rule) {
  finding.priority = priority;
  finding.priority_reason = rule;
}

}  // namespace

void rate_op(Finding& f, bool is_top, double efficiency, double category_share) {
  if (is_top && efficiency < 0.3 && category_share > 0.15) {
    return rate(f, Priority::kCritical,
                "a top operation under 30 % of achievable, with over 15 % of its category's time");
  }
  if (is_top) return rate(f, Priority::kHigh, "a top operation");
  if (efficiency < 0.4 && category_share > 0.10) {
    return rate(f, Priority::kHigh,
                "under 40 % of achievable, with over 10 % of its category's time");
  }
  if (category_share > 0.05) return rate(f, Priority::kMedium, "over 5 % of its category's time");
  rate(f, Priority::kLow, "no more than 5 % of its category's time");
}

void rate_library_op(Finding& f) {
  if (f.priority >= Priority::kMedium) return;
  rate(f, Priority::kMedium, "a library's op at 30 % of achievable or more");
}

void rate_part_of_whole(Finding& f) {
  if (f.in_single_ops) return rate(f, Priority::kMedium, "between the launches of single ops");
  if (f.share > 0.30) return rate(f, Priority::kCritical, "over 30 % of the wall time");
  if (f.share > 0.15) return rate(f, Priority::kHigh, "over 15 % of the wall time");
  rate(f, Priority::kMedium, "no more than 15 % of the wall time");
}

void rate_pattern(Finding& f, bool of_top_op) {
  if (of_top_op) return rate(f, Priority::kHigh, "a notable pattern of a top operation");
  rate(f, Priority::kMedium, "a notable pattern");
}

void cap_priority(const Assessment& a, Finding& f) {
  const double saving = ratio(f.saving_at_most, a.length());
  // No op reaches all that is achievable: what the next band saves is what it can be urgent for.
  // What reads the other layout takes longer: of copies, half is what they can be urgent for.
  const double likely = f.efficiency ? ratio(f.saving_at_least, a.length())
                        : f.kind == FindingKind::kLayoutCopies ? saving / 2
                                                               : saving;
  Priority allowed = Priority::kLow;
  for (const Cap& cap : kCaps) {
    if ((cap.priority < Priority::kMedium ? likely : saving) >= cap.least_saving) {
      allowed = cap.priority;
      break;
    }
  }
  if (allowed <= f.priority) return;
  f.priority_reason = fmt::format(
      "{} by rule ({}); {} because the saving is {} of the wall time", priority_name(f.priority),
      f.priority_reason, priority_name(allowed),
      likely < saving ? percent_range_text(likely, saving) : "at most " + percent_text(saving));
  f.priority = allowed;
}

std::string describe_priorities() {
  std::string text =
      "An op is critical when it is a top operation, runs at under 30 % of achievable and takes "
      "over 15 % of its category's time; high when it is a top operation, or at under 40 % with "
      "over 10 %; medium over 5 %. A product or convolution of a library that reaches 30 % is "
      "medium "
      "at most. Idle time and exposed transfers are critical over 30 % of the "
      "wall time and high over 15 %; a notable pattern is high for a top operation, else medium. "
      "The possible saving caps the priority: at least ";
  for (const Cap& cap : kCaps) {
    text += fmt::format("{:.0f} % of the wall time for {}, ", cap.least_saving * 100,
                        priority_name(cap.priority));
  }
  return text + "else low. Findings are ordered by possible saving.";
}

}  // namespace fathom
