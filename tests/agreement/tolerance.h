#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "csv.h"
#include "sheet_rules.h"

namespace fathom::agreement {

// Theirs adds up intervals whose ends are doubles near 2e12 µs, where a step is 0.24 to 0.49 ns, so
// each GPU event costs up to half a step (0.242 ns is the most seen). A sum over n events is given
// min(n, 1 + n / 4) ns: never more than the 1 ns per event that the report's facts allow, and tight
// enough that in a thousand events no single kernel can be missed. From 4.4e12 µs on, the step is
// 0.98 ns and kLossPerEvent must be raised. What comes from `dur` is not touched by this and must
// be the same whole number of nanoseconds.
inline constexpr double kNanosecond = 1e-3;               // in µs
inline constexpr double kLossPerEvent = 0.25e-3;          // in µs
inline constexpr double kSameNanosecond = 0.5e-3 + 1e-9;  // in µs
inline constexpr double kPercentPoint = 0.01;
inline constexpr double kLastDigits = 1e-9;  // relative; what printing may cost

// GPU events behind their numbers. Taken from their report alone: ours must not widen its own
// limits.
struct EventCounts {
  double all = 0;  // linked to an op
  double copies = 0;
  std::map<std::string, double, std::less<>> by_name;      // of the op
  std::map<std::string, double, std::less<>> by_category;  // of the op
};

EventCounts count_events(const Csv& ops_unique_args, const Csv& kernel_summary);

// How far our cell may lie from theirs, in the column's own unit, kLastDigits aside. Only for
// numbers.
double find_tolerance(std::string_view column, const Csv& theirs, size_t row,
                      const EventCounts& events);

std::optional<double> parse_number(std::string_view cell);

}  // namespace fathom::agreement
