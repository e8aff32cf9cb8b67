#pragma once

#include <vector>

#include "report/scan/fact_writer.h"
#include "story/measured_run.h"

namespace fathom {

// The measured half of scan.json: the recordings, and of each kernel its launches with counters.
class MeasuredJson {
 public:
  // The runs must outlive it.
  MeasuredJson(const std::vector<MeasuredRun>& runs, size_t kernels);

  // Nothing where no recording was given.
  void write_runs(FactWriter& w) const;
  void write_kernel(FactWriter& w, size_t kernel) const;

 private:
  struct Launch {
    const MeasuredRun* run = nullptr;
    const ComparedKernel* compared = nullptr;
  };
  const std::vector<MeasuredRun>& runs_;
  std::vector<std::vector<Launch>> launches_;                      // by kernel
  std::vector<std::vector<const MeasuredRun::Sampled*>> sampled_;  // by kernel
};

}  // namespace fathom
