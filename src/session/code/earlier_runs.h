#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "session/code/run_files.h"
#include "session/code/run_plan.h"
#include "trial/journal.h"

// What a folder of results holds from earlier, and whether it may go on.
namespace fathom {

// Tells one text of a plan from another.
std::string plan_stamp(std::string_view plan);

// Empty where it cannot be read.
std::string text_of_file(const std::filesystem::path& path, size_t limit);

// Of a log as far as it is read.
std::string log_text(const std::filesystem::path& log);

// What is finished, without opening the journal for writing.
Result<std::map<std::string, run_files::FinishedRun>> read_finished(
    const std::filesystem::path& folder, std::string& stamp);

// Of this plan, to be resumed if it has runs, and none of them still running.
Status check_journal(const Journal& journal, const RunPlanRequest& request,
                     const std::string& plan_text);

// What the machine was when the earlier runs were made, where it is something else by now; in
// words.
std::vector<std::string> machine_changes(const Journal& journal, const MachineState& machine);

}  // namespace fathom
