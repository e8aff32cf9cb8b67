#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace fathom {

// Many traces, each exported to a partition of tables by a task of its own:
//
//     FLEET/
//       tasks.tsv          the traces, a row each
//       export.sbatch      a job array for Slurm, and what follows it
//       report.sbatch
//       submit.sh
//       parts/NAME/        tables of a trace (fathom export), whole or not there
//       state/NAME         how the trace's task stands
//       logs/NAME.log      what it printed
//       report/            fathom fleet report
struct FleetTask {
  std::string part;   // the name of its partition, of letters that need no quoting
  std::string trace;  // absolute path
  int64_t bytes = 0;  // when it was planned
};

struct Fleet {
  std::filesystem::path directory;
  std::vector<FleetTask> tasks;
  int64_t traces_per_job = 1;

  int64_t jobs() const {
    return (static_cast<int64_t>(tasks.size()) + traces_per_job - 1) / traces_per_job;
  }
  std::filesystem::path part_of(const FleetTask& task) const {
    return directory / "parts" / task.part;
  }
};

struct FoundTraces {
  std::vector<FleetTask> tasks;
  std::vector<std::string> notes;  // what was left out, and why
};
// Traces below these folders, by the endings of their names, and the files that are named. Links
// are not followed; reports of ours are passed over. In the order of their paths.
Result<FoundTraces> find_traces(const std::vector<std::string>& paths);

// A file of a fleet, as it is. None: it cannot be read, is larger, or is a FIFO or device in its
// place, which would be waited for.
std::optional<std::string> read_fleet_file(const std::filesystem::path& path, size_t limit);

std::string tasks_text(const Fleet& fleet);
// What `plan` wrote.
Result<Fleet> read_fleet(const std::filesystem::path& directory);

}  // namespace fathom
