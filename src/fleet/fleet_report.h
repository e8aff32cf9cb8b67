#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/table.h"
#include "fleet/task_state.h"

namespace fathom {

// What a shipped question was answered with.
struct FleetAnswer {
  std::string name, question;
  Table table;
  std::string drawing = {};  // SVG; empty: none
};

// A kernel's time on a rank in this run and in another.
Table compared_kernels(const Table& now, const Table& before);
// The median ranks of two runs, beside the spread of the ranks in the run before.
Table compared_ranks(const Table& now, const Table& before);

// The rank with the most work of its own, and whether that is much; nothing where there is one
// rank.
struct SlowRank {
  std::string part;
  double over_median_percent = 0;
  bool stands_out() const { return over_median_percent >= 5; }
};
std::optional<SlowRank> slow_rank(const Table& ranks);

// What is missing comes first, with what could not be read of what was exported (`damaged`), then
// the answers, the first rows of each.
std::string fleet_markdown(const Fleet& fleet, const FleetStatus& status,
                           const std::vector<FleetAnswer>& answers,
                           const std::vector<std::string>& damaged = {});
// Which rank is slow, and what changed against another run, in one line.
std::string fleet_headline(const std::vector<FleetAnswer>& answers);

// "12 of 1,000 traces are exported, 3 failed".
std::string fleet_line(const FleetStatus& status);
// The tasks that failed and why, at most `most` of them, then how many more.
std::vector<std::string> failed_lines(const Fleet& fleet, const FleetStatus& status, size_t most);

}  // namespace fathom
