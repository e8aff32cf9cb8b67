#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "plan/plan.h"
#include "plan/run/results.h"
#include "plan/run/schedule.h"
#include "trial/journal.h"

namespace fathom {

// The folder of a plan's results. Everything that `fathom run` writes lies in it.
//
//     journal         what was run and how it ended; last, what is finished after a kill
//     plan.toml       the plan that was run
//     logs/ captures/ of each run: E1-c0-r3.log, E1-c0-r3.capture, E1-c0-r3-2.capture
//     results.md results.json tables/ stories/ environment.md
namespace run_files {

// Makes the folder, or takes one that is empty or has a journal. Its own folders are no links.
Status prepare_folder(const std::filesystem::path& out);
// Written whole or not at all; never through a link.
Status write_whole_file(const std::filesystem::path& path, std::string_view content);

std::filesystem::path log_of(const std::filesystem::path& out, const ScheduledRun& run);
std::filesystem::path capture_of(const std::filesystem::path& out, const ScheduledRun& run);
// Leftovers of a run that was killed.
void remove_files_of(const std::filesystem::path& out, const ScheduledRun& run);

// The recordings of a run in a folder that may be laid out otherwise: beside each other, or one
// trace for each configuration. Empty: none.
std::vector<std::filesystem::path> recordings_in(const std::filesystem::path& folder,
                                                 const Experiment& experiment,
                                                 const ScheduledRun& run);
std::filesystem::path log_in(const std::filesystem::path& folder, const ScheduledRun& run);

// What a finished run left in the folder.
struct KeptFiles {
  std::optional<uint64_t> log_size;  // bytes of the file; absent: not known, or there is no log
  size_t captures = 0;
};
KeptFiles kept_files(const std::filesystem::path& out, const ScheduledRun& run);
// What of it is not there any more, in words; empty: nothing.
std::string lost_files(const std::filesystem::path& out, const ScheduledRun& run,
                       const KeptFiles& kept);

struct FinishedRun {
  TrialEnd end;
  KeptFiles files;
  size_t session = 0;  // which start of the program made it, from 1; 0: not known
};
JournalRecord finished_record(const ScheduledRun& run, const TrialEnd& end, const KeptFiles& files);
// By name of the run: those that are finished. Of several records of a run the last.
std::map<std::string, FinishedRun> finished_runs(const std::vector<JournalRecord>& records);

}  // namespace run_files
}  // namespace fathom
