#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"

namespace fathom {

// What an edited plan.toml holds, and what is wrong with it.
struct PlanCheck {
  Plan plan;                          // what could be read
  std::vector<std::string> mistakes;  // "plan.toml:12: …", in order of line; none: it can be run
};

// Bounds: a plan beyond them is refused, so that an edited or hostile one cannot ask for more.
inline constexpr int64_t kPlanFormat = 1;
inline constexpr size_t kMaxExperiments = 100;
inline constexpr size_t kMaxConfigurations = 200;  // of one experiment
inline constexpr int64_t kMaxRepetitions = 10'000;
inline constexpr int64_t kMaxRuns = 20'000;  // of one plan
inline constexpr double kMaxTimeLimit = 7 * 24 * 3600.0;

// plan.toml as text; read_plan reads it back as the same plan.
std::string plan_toml(const Plan& plan);

// What is wrong with the value of an option of `fathom record` ("--probe", "x:f"); nothing: it is
// fine. The commands bring it along: session/ knows the forms of probes, patterns and times.
using RecordValueCheck = std::optional<std::string>(std::string_view option,
                                                    const std::string& value);

// Text → plan with everything that is wrong with it: unknown keys, wrong types, numbers out of
// range, ids given twice, unknown metrics and options of record, sweeps that are too large.
// `shown`: what messages call the file.
PlanCheck read_plan(std::string_view text, const std::string& shown,
                    RecordValueCheck* check = nullptr);

// The folder that commands run in: the repository as seen from the folder of plan.toml, or that
// folder itself where the plan names none. Fails where it is no folder.
Result<std::filesystem::path> repository_of(const Plan& plan,
                                            const std::filesystem::path& plan_file);

// The same of a file, and whether its repository is there; fails only where it cannot be read.
Result<PlanCheck> check_plan_file(const std::string& path, RecordValueCheck* check = nullptr);
// Fails with all mistakes, a line each.
Result<Plan> load_plan(const std::string& path, RecordValueCheck* check = nullptr);

}  // namespace fathom
