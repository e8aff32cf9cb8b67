#include "session/query/fleet.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/count_text.h"
#include "base/output_directory.h"
#include "fleet/fleet_drawings.h"
#include "report/csv.h"
#include "report/page/documents_page.h"
#include "session/query/databases.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kQuestions[] = {"fleet-ranks",      "fleet-hosts",       "fleet-since",
                                           "fleet-rank-steps", "fleet-collectives", "fleet-kernels",
                                           "fleet-clocks",     "fleet-steps"};

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

// The tables of traces that are done: others in parts/ are of earlier traces or plans.
std::vector<fs::path> done_parts(const Fleet& fleet, const FleetStatus& status) {
  std::vector<fs::path> parts;
  for (size_t i = 0; i < fleet.tasks.size(); ++i)
    if (status.tasks[i].stage == TaskStage::kDone) parts.push_back(fleet.part_of(fleet.tasks[i]));
  return parts;
}

Status compare_with_other(DuckDatabase& database, const FleetReportRequest& request,
                          std::vector<FleetAnswer>& answers) {
  const Fleet other = TRY(read_fleet(request.against));
  std::vector<std::string> damaged;
  DuckDatabase before = TRY(parts_database(*request.library, request.limits,
                                           done_parts(other, fleet_status(other)), &damaged));
  constexpr std::string_view kTimes = "fleet-kernel-times";
  const Table now_times = TRY(asked(database, kTimes));
  const Table before_times = TRY(asked(before, kTimes));
  const Table before_ranks = TRY(asked(before, "fleet-ranks"));
  answers.push_back({"against-ranks", "What changed on the median rank against the other run?",
                     compared_ranks(answers[0].table, before_ranks)});
  answers.push_back(
      {"against-kernels",
       "Which kernels take more or less time on a rank than in the other run (a step of it, where "
       "both runs have steps)?",
       compared_kernels(now_times, before_times)});
  return Nothing{};
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
  DuckDatabase database = TRY(parts_database(*request.library, request.limits,
                                             done_parts(fleet, result.status), &result.damaged));
  for (const std::string_view name : kQuestions)
    result.answers.push_back({std::string(name), question_of(name), TRY(asked(database, name))});
  if (!request.against.empty()) TRY(compare_with_other(database, request, result.answers));
  DocumentsPage page;
  page.kind = "fleet";
  page.title = counted(result.status.tasks.size(), "trace") + " together";
  page.headline = fleet_headline(result.answers);
  for (FleetAnswer& answer : result.answers) {
    answer.drawing = answer_drawing(answer.name, answer.table);
    TRY(out.write_file(answer.name + ".csv", to_csv(answer.table)));
    if (answer.drawing.empty()) continue;
    TRY(out.write_file(answer.name + ".svg", answer.drawing));
    page.pictures.push_back({answer.name + ".svg", answer.drawing});
  }
  const std::string text = fleet_markdown(fleet, result.status, result.answers, result.damaged);
  page.documents.push_back({"report.md", text});
  TRY(out.write_file("report.md", text));
  TRY(out.write_file("report.html", documents_page(page)));
  result.notes = TRY(out.commit());
  return result;
}

}  // namespace fathom
