#pragma once

#include <string>
#include <vector>

#include "story/expected_measured.h"

namespace fathom {

// A line where warps of a kernel wait, by PC samples.
struct HotLine {
  std::string place;    // "rows.cu:24", or "PC 0x1a0" without line information
  std::string reasons;  // "long_scoreboard 91 %, wait 4 %"
  double percent = 0;   // of the kernel's samples, that are stalls here
};

// What one capture, trace or file of counters tells of a repository's kernels.
struct MeasuredRun {
  std::string file;     // as reports show it
  std::string gpu;      // as the driver names it; empty: not known
  std::string refusal;  // why nothing of it is used; empty: it is
  std::string doubt;    // why its counters may be of another run; empty: nothing says so
  bool has_timeline = false;
  size_t launches = 0;  // kernels and shapes that have counters
  size_t in_code = 0;   // those of them that the repository defines
  size_t left_out = 0;  // kernels and shapes beyond the longest that are looked at
  std::vector<KernelContext> contexts;
  std::vector<ComparedKernel> compared;

  struct Sampled {
    size_t kernel = 0;  // in CodeFacts::kernels
    std::string name;   // the profiler's
    std::vector<HotLine> lines;
  };
  std::vector<Sampled> sampled;
};

}  // namespace fathom
