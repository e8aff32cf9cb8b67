#pragma once

#include <map>
#include <string>

#include "session/code/run_files.h"
#include "session/code/run_plan.h"

namespace fathom {

// Whether a run ended as it should.
bool is_good_end(const Experiment& experiment, const TrialEnd& end);

// By name of the run.
struct RunsSoFar {
  const std::map<std::string, run_files::FinishedRun>& finished;
  const std::map<std::string, std::string>& skipped;  // why
};
// Reads what the runs left and adds to the result what they show; writes results.md, results.json,
// tables/, stories/ and report.html.
Status write_plan_results(const RunPlanRequest& request, const PreparedRun& prepared,
                          const RunsSoFar& so_far, RunPlanResult& result);

}  // namespace fathom
