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

// What is finished, without opening the journal for writing.
Result<std::map<std::string, run_files::FinishedRun>> read_finished(
    const std::filesystem::path& folder, std::string& stamp);

// Of this plan, to be resumed if it has runs, and none of them still running.
Status check_journal(const Journal& journal, const RunPlanRequest& request,
                     const std::string& plan_text);

}  // namespace fathom
