#pragma once

#include <functional>

#include "report/calibration_text.h"
#include "session/record.h"

namespace fathom {

// Runs the program once to warm up, then in pairs: plain and recorded, each first in turn. What it
// prints on standard output is dropped; captures are not kept. `report` is called before each run.
Result<Calibration> calibrate(const RecordRequest& request, int pairs,
                              const std::function<void(int done, int all)>& report);

}  // namespace fathom
