#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace fathom {

// Runs of a program with and without recording, in pairs.
struct Calibration {
  std::optional<std::string> not_started;  // why
  bool not_found = false;
  int status = 0;                      // of the last run, as waitpid gives it
  std::vector<Nanos> plain, recorded;  // wall time; one of each for a pair
  std::vector<int64_t> launches;       // kernels and graphs of each recorded run
  std::vector<std::string> notes;
};

struct CalibrationSummary {
  Nanos plain, recorded;  // medians
  Nanos added;            // median of the pairs' differences
  Nanos noise;            // half the range of the plain runs
  int64_t launches = 0;   // median
  bool is_inside_noise = false;
  double percent() const;
  std::optional<double> us_per_launch() const;
};
CalibrationSummary summarize_calibration(const Calibration& calibration);

std::string calibration_text(const Calibration& calibration, const std::string& command);
std::string calibration_json(const Calibration& calibration);

}  // namespace fathom
