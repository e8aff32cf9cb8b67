#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"
#include "trial/command.h"

namespace fathom {

// One run of a plan's command. Its name is safe for files, whatever the plan holds.
struct ScheduledRun {
  size_t experiment = 0;
  size_t configuration = 0;  // 0 where the experiment has none
  int64_t number = 0;        // of the repetition or the warm-up
  bool is_warmup = false;
  std::string name;  // "E1-c0-r3", "E1-c0-w0": unique in the plan
};

// In the order of running: experiment by experiment, warm-up first, configurations interleaved.
// Empty `only`: all experiments. Fails where an id is of none, with the nearest.
Result<std::vector<ScheduledRun>> schedule_runs(const Plan& plan,
                                                const std::vector<std::string>& only);

// Null where the experiment has none.
const Configuration* configuration_of(const Experiment& experiment, size_t configuration);
// Its name, or "as it is".
std::string configuration_name(const Experiment& experiment, size_t configuration);
size_t configuration_count(const Experiment& experiment);

// Where and how the files of a run are.
struct RunPlaces {
  std::string program;   // fathom itself
  std::string captures;  // folder
};
// The argument list that is run, which is also what is shown. Recorded: under `fathom record`.
std::vector<std::string> words_of(const Experiment& experiment, const ScheduledRun& run,
                                  const RunPlaces& places);
// Seconds that a run may take. Counters run the program twice; the recorder needs time of its own.
double limit_of(const Experiment& experiment, const ScheduledRun& run);
// Seconds from the limit to SIGKILL.
double grace_of(const Experiment& experiment, const ScheduledRun& run);
// "31 s (1 s and 30 s for the recorder)"
std::string limit_text(const Experiment& experiment, const ScheduledRun& run);
// As end_text, with that limit.
std::string run_end_text(const Experiment& experiment, const ScheduledRun& run,
                         const TrialEnd& end);
// "NAME=value": the experiment's, then the configuration's.
std::vector<std::string> changes_of(const Experiment& experiment, size_t configuration);

// Everything that would be run, for people: one line for each command, with folder, variables,
// number of runs and limit. Control characters are escaped.
std::vector<std::string> shown_commands(const Plan& plan, const std::vector<ScheduledRun>& runs,
                                        const RunPlaces& places);

}  // namespace fathom
