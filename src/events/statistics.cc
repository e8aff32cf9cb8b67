#include "events/statistics.h"

#include <algorithm>
#include <cmath>

namespace fathom {

TimeStatistics summarize(std::vector<Nanos> times) {
  TimeStatistics s;
  s.count = times.size();
  if (times.empty()) return s;
  std::ranges::sort(times, {}, &Nanos::count);
  s.min = times.front();
  s.max = times.back();
  for (Nanos t : times) s.sum += t;
  const auto n = static_cast<double>(times.size());
  s.mean = static_cast<double>(s.sum.count) / n;
  const size_t middle = times.size() / 2;
  s.median = static_cast<double>(times[middle].count);
  if (times.size() % 2 == 0)
    s.median = (s.median + static_cast<double>(times[middle - 1].count)) / 2;
  double squares = 0;
  for (Nanos t : times) {
    const double off = static_cast<double>(t.count) - s.mean;
    squares += off * off;
  }
  s.population_deviation = std::sqrt(squares / n);
  if (times.size() > 1) s.sample_deviation = std::sqrt(squares / (n - 1));
  return s;
}

}  // namespace fathom
