#include "session/query/fleet.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/output_directory.h"
#include "report/csv.h"
#include "session/query/databases.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kQuestions[] = {"fleet-ranks", "fleet-since", "fleet-collectives",
                                           "fleet-kernels", "fleet-steps"};

Result<Table> asked(DuckDatabase& database, std::string_view name) {
  const NamedQuery* query = find_query(name);
  CHECK(query != nullptr);
  return database.ask(std::string(query->sql));
}

// "Several ranks: which …" → "Which …": of a fleet the beginning needs no saying.
std::string question_of(std::string_view name) {
  std::string question(find_query(name)->text);
  if (const size_t colon = question.find(": "); colon != std::string::npos)
    question.erase(0, colon + 2);
  if (!question.empty() && question[0] >= 'a' && question[0] <= 'z')
    question[0] = static_cast<char>(question[0] - 'a' + 'A');
  return question;
}

Result<FleetAnswer> against_other(DuckDatabase& database, const FleetReportRequest& request) {
  const Fleet other = TRY(read_fleet(request.against));
  DuckDatabase before =
      TRY(export_database(*request.library, request.limits, other.directory / "parts"));
  constexpr std::string_view kTimes = "fleet-kernel-times";
  const Table now_times = TRY(asked(database, kTimes));
  const Table before_times = TRY(asked(before, kTimes));
  return FleetAnswer{"against",
                     "Which kernels take more or less time on a rank than in the other run?",
                     compared_kernels(now_times, before_times)};
}

}  // namespace

Result<FleetPlanResult> plan_fleet(const FleetPlanRequest& request) {
  FoundTraces found = TRY(find_traces(request.traces));
  if (found.tasks.empty())
    return Error{
        fmt::format("no trace in {}: looked for .json, .json.gz, .json.zst, .capture, "
                    ".sqlite and .pftrace files",
                    fmt::join(request.traces, ", "))};
  OutputDirectory out =
      TRY(OutputDirectory::create({request.to, {"fleet", "fleet", ""}, request.force}));
  FleetPlanResult result;
  result.notes = std::move(found.notes);
  Fleet& fleet = result.fleet;
  std::error_code error;
  fleet.directory = fs::absolute(request.to, error).lexically_normal();
  if (!fleet.directory.has_filename()) fleet.directory = fleet.directory.parent_path();
  fleet.tasks = std::move(found.tasks);
  fleet.traces_per_job = request.traces_per_job > 0 ? request.traces_per_job
                                                    : fitting_traces_per_job(fleet.tasks.size());
  TRY(out.write_file("tasks.tsv", tasks_text(fleet)));
  if (request.slurm) {
    TRY(out.write_file("export.sbatch", export_script(fleet, *request.slurm)));
    TRY(out.write_file("report.sbatch", report_script(fleet, *request.slurm)));
    TRY(out.write_file("submit.sh", submit_script(fleet)));
  }
  for (std::string& note : TRY(out.commit())) result.notes.push_back(std::move(note));
  for (const char* folder : {"parts", "state", "logs"}) {
    fs::create_directories(fleet.directory / folder, error);
    if (error)
      return Error{
          fmt::format("cannot make {}: {}", (request.to / folder).string(), error.message())};
  }
  return result;
}

Result<FleetReportResult> report_fleet(const Fleet& fleet, const FleetReportRequest& request) {
  FleetReportResult result;
  result.status = fleet_status(fleet);
  if (result.status.done == 0)
    return Error{fmt::format("{}: no trace is exported yet; fathom fleet run {}",
                             fleet.directory.string(), fleet.directory.string())};
  OutputDirectory out = TRY(OutputDirectory::create(
      {fleet.directory / "report", {"fleet report", "fleet", ""}, request.force}));
  DuckDatabase database =
      TRY(export_database(*request.library, request.limits, fleet.directory / "parts"));
  for (const std::string_view name : kQuestions)
    result.answers.push_back({std::string(name), question_of(name), TRY(asked(database, name))});
  if (!request.against.empty()) result.answers.push_back(TRY(against_other(database, request)));
  TRY(out.write_file("report.md", fleet_markdown(fleet, result.status, result.answers)));
  for (const FleetAnswer& answer : result.answers)
    TRY(out.write_file(answer.name + ".csv", to_csv(answer.table)));
  TRY(out.write_file("ranks.svg", ranks_drawing(result.answers[0].table)));
  result.notes = TRY(out.commit());
  return result;
}

}  // namespace fathom
