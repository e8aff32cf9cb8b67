#pragma once

#include <string>
#include <vector>

#include "report/screen.h"
#include "trial/command.h"
#include "trial/observation.h"

namespace fathom {

// One of the commands that were compared.
struct BenchCommand {
  std::string name;  // "A"
  std::vector<std::string> words;
  std::vector<TrialEnd> ends;           // of the timed runs, in order
  std::vector<Observations> recorded;   // of the runs under `fathom record`; none: no GPU
  std::vector<std::string> last_lines;  // that it printed, where a run failed
};

struct BenchResult {
  std::vector<BenchCommand> commands;
  double limit_s = 600;
  std::vector<std::string> notes;
  bool interrupted = false;
  bool failed = false;  // a run did, and that was not allowed
};

std::string bench_text(const BenchResult& result, const TerminalStyle& style);
std::string bench_json(const BenchResult& result);

}  // namespace fathom
