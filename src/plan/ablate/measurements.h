#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "measure/hypotheses.h"
#include "plan/ablate/suite.h"

// What was measured of a suite's variants, as the journal has it.
namespace fathom::ablate {

struct Step {
  bool done = false;   // it was tried and ended
  bool ok = false;     // as it should
  std::string reason;  // where not: why
  double seconds = 0;
  std::string log;  // below the out folder
};

struct Checked : Step {
  std::string outcome;  // "1,000 values, largest error 2e-07"
};

// One run of the program.
struct Sample {
  double seconds = 0;                            // by the first timer
  std::optional<double> second;                  // by the second one, of the same run
  double wall = 0;                               // of the process, seconds
  int64_t order = 0;                             // among all timed runs
  std::optional<double> clock_mhz, temperature;  // of the GPU when it ended
};

struct Timed {
  std::vector<Sample> samples;
  std::string problem;  // a run failed: no time is given; empty: none did
  double seconds_spent = 0;
};

struct Counted : Step {
  std::string kernel;  // the one with the most time
  int64_t launches = 0;
  double kernel_seconds = 0;  // median of a launch in the capture
  std::string gpu;
  HardwareValues values;
  std::vector<std::pair<std::string, double>> stalls;  // percent, the largest first
};

struct VariantMeasurements {
  Step build;
  Checked check;
  std::vector<Timed> cases;  // as the suite's
  Counted counters;
  std::string diff;         // with its parent
  std::string diff_parent;  // the variant that it was made with
};

// A step of the loop that somebody wrote down.
struct Note {
  std::string variant, step, text, hypothesis, when;
};

struct Measurements {
  std::map<std::string, VariantMeasurements, std::less<>> variants;
  std::vector<Note> notes;
  Pairs environment;         // what the machine is: name, value
  double seconds_spent = 0;  // on builds, checks, runs and counters
  size_t stale = 0;          // finished steps of another definition, which are not used
};

}  // namespace fathom::ablate
