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
};

// A kernel's time on a rank in this run and in another.
Table compared_kernels(const Table& now, const Table& before);

// The rank with the most work of its own, and whether that is much; nothing where there is one
// rank.
struct SlowRank {
  std::string part;
  double over_median_percent = 0;
  bool stands_out() const { return over_median_percent >= 5; }
};
std::optional<SlowRank> slow_rank(const Table& ranks);

// What is missing comes first, then the answers, the first rows of each.
std::string fleet_markdown(const Fleet& fleet, const FleetStatus& status,
                           const std::vector<FleetAnswer>& answers);
// A bar for each rank: its own GPU work, communication, idle time.
std::string ranks_drawing(const Table& ranks);

// "12 of 1,000 traces are exported, 3 failed".
std::string fleet_line(const FleetStatus& status);
// The tasks that failed and why, at most `most` of them, then how many more.
std::vector<std::string> failed_lines(const Fleet& fleet, const FleetStatus& status, size_t most);

}  // namespace fathom
