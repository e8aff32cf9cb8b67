#pragma once

#include <memory>
#include <vector>

#include "analyze/assessment.h"
#include "analyze/critical/critical_path.h"
#include "analyze/finding.h"

namespace fathom {

class SavingModel;

// Whether a kind of finding is about work that is done otherwise, or not at all, once it is
// followed.
bool replaces_work(FindingKind kind);

// Both ends of what a change saves, by replays of the critical path of a step without the profiler
// (critical/step_model.h). The lower end takes the finding's own work or wait away, or makes it as
// fast as it is sure to become. The upper end also takes what may go with it: the gradients of its
// ops, memory-bound ops of the same function calls, and the rest of a function that does nearly
// nothing on the GPU.
class SavingRanges {
 public:
  SavingRanges(const Assessment& a, const CriticalPath& path);
  ~SavingRanges();
  SavingRanges(const SavingRanges&) = delete;
  SavingRanges& operator=(const SavingRanges&) = delete;

  // Before findings are ordered: idle time as it is without the profiler, and no saving beyond what
  // the critical path allows.
  void bound(std::vector<Finding>& findings);
  // Once they are in order: the first of those that replace work.
  void widen(std::vector<Finding>& findings);

 private:
  std::unique_ptr<SavingModel> model_;
};

}  // namespace fathom
