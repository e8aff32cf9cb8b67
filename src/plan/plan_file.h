#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"

namespace fathom {

// A fault of a plan.toml that was edited by hand.
struct PlanFault {
  size_t line = 0;      // counted from 1; 0: of the file as a whole
  bool fatal = true;    // false: it can be run all the same
  std::string message;  // what is wrong and what is wanted
};

struct PlanCheck {
  Plan plan;                      // what could be read
  std::vector<PlanFault> faults;  // in order of line
  bool usable() const;            // none of them is fatal
};

// Bounds: a plan beyond them is refused, so that an edited or hostile one cannot ask for more.
inline constexpr size_t kMaxPlanBytes = 4 << 20;
inline constexpr size_t kMaxExperiments = 100;
inline constexpr size_t kMaxConfigurations = 200;  // of one experiment
inline constexpr int64_t kMaxRepetitions = 10'000;
inline constexpr int64_t kMaxRuns = 20'000;  // of one plan
inline constexpr double kMaxTimeLimit = 7 * 24 * 3600.0;

// plan.toml as text; read_plan reads it back as the same plan.
std::string plan_toml(const Plan& plan);

// Text → plan with everything that is wrong with it: unknown keys, wrong types, numbers out of
// range, ids given twice, unknown metrics and options of record, sweeps that are too large.
PlanCheck read_plan(std::string_view text);

// The same of a file; fails where it cannot be read, or has a fatal fault: "plan.toml:12: …".
Result<PlanCheck> check_plan_file(const std::string& path);
Result<Plan> load_plan(const std::string& path);

}  // namespace fathom
